package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"epitome/rewrite"
)

// checkKeeping says what is wrong with what is done to conversations, and where it is kept.
func (c Config) checkKeeping() error {
	if err := c.Rewrite.Check(); err != nil {
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
