package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"epitome/rewrite"
)

// checkKeeping says what is wrong with what is done to conversations, and where it is kept.
func (c Config) checkKeeping() error {
	if err := checkLimits(c.Rewrite); err != nil {
		return err
	}
	if _, known := c.Upstreams[c.Summarize.Upstream]; !known && c.Summarize.Upstream != "" {
		return fmt.Errorf("cannot use summarize.upstream %q: write one of %s", c.Summarize.Upstream,
			strings.Join(slices.Sorted(maps.Keys(c.Upstreams)), ", "))
	}
	if modes := rewrite.Modes(); !slices.Contains(modes, c.Summarize.Mode) {
		return fmt.Errorf("cannot use summarize.mode %q: write one of %s", c.Summarize.Mode, strings.Join(modes, ", "))
	}
	if err := c.Summarize.Check(); err != nil {
		return err
	}
	for _, pattern := range slices.Sorted(maps.Keys(c.Window.Models)) {
		if n := c.Window.Models[pattern]; pattern == "" || n < leastWindow {
			return fmt.Errorf("cannot use window.models %q = %d: write a pattern such as gpt-*, and at least %d tokens", pattern, n, leastWindow)
		}
	}
	if c.Window.Default < leastWindow {
		return fmt.Errorf("cannot use window.default %d: write at least %d tokens", c.Window.Default, leastWindow)
	}
	if !slices.Contains([]string{"path", "url", "both", "none"}, c.Offload.Address) {
		return fmt.Errorf("cannot use offload.address %q: write path, url, both or none", c.Offload.Address)
	}
	if c.Offload.Quota <= 0 || c.Store.Keep <= 0 || c.Store.SyncEvery <= 0 {
		return fmt.Errorf("cannot use offload.quota %s, store.keep %s, store.sync_every %s: each must be greater than zero",
			c.Offload.Quota, c.Store.Keep, c.Store.SyncEvery)
	}
	return nil
}

// leastWindow is the smallest window in tokens that makes sense; a smaller number is a slip of the pen.
const leastWindow = 1024

// checkLimits finds numbers that mean nothing. Shares are above 0 and at most 1; nothing is below 0.
func checkLimits(l rewrite.Limits) error {
	numbers := reflect.ValueOf(l)
	for _, f := range reflect.VisibleFields(numbers.Type()) { // those of embedded tables too, which stand on the same level
		if err := checkNumber(f.Tag.Get("toml"), numbers.FieldByIndex(f.Index)); err != nil {
			return err
		}
	}
	if l.Target >= l.CompactAt || l.ClearAt > l.CompactAt {
		return fmt.Errorf("cannot use rewrite.compact_at %v with compact_to %v and clear_at %v: compact_to must be below it, and clear_at not above",
			l.CompactAt, l.Target, l.ClearAt)
	}
	for _, t := range l.ToolLimits {
		if t.Tool == "" || t.Tokens < 0 || t.Tokens == 0 && !t.Keep {
			return fmt.Errorf("cannot use rewrite.tools %q: write a pattern as tool, and tokens above zero or keep = true", t.Tool)
		}
	}
	return nil
}

// checkNumber leaves alone what is no number. A comparison with what is not a number is false.
func checkNumber(key string, v reflect.Value) error {
	switch {
	case (key == "offload_tokens" || key == "offload_read_tokens") && v.Int() < 1:
		return fmt.Errorf("cannot use rewrite.%s %v: it must be greater than zero", key, v)
	case v.CanInt() && v.Int() < 0:
		return fmt.Errorf("cannot use rewrite.%s %v: it must not be below zero", key, v)
	case key == "rent" && !(v.Float() >= 0 && v.Float() <= mostRent):
		return fmt.Errorf("cannot use rewrite.%s %v: write a number from 0 to %d", key, v, mostRent)
	case key != "rent" && v.CanFloat() && !(v.Float() > 0 && v.Float() <= 1):
		return fmt.Errorf("cannot use rewrite.%s %v: write a share above 0 and up to 1", key, v)
	}
	return nil
}

// mostRent is a rent that is never owed.
const mostRent = 1000
