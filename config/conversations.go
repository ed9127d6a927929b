package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"epitome/internal/unit"
)

// checkKeeping says what is wrong with what is done to conversations, and where it is kept.
func (c Config) checkKeeping() error {
	if err := c.Rewrite.Check(); err != nil {
		return err
	}
	if _, known := c.Upstreams[c.Summarize.Upstream]; !known && c.Summarize.Upstream != "" {
		return unit.Wrong([]string{"summarize", "upstream"},
			"cannot use summarize.upstream %q: write one of %s", c.Summarize.Upstream,
			strings.Join(slices.Sorted(maps.Keys(c.Upstreams)), ", "))
	}
	if err := cmp.Or(c.Summarize.Check(), checkMemory(c)); err != nil {
		return err
	}
	for _, pattern := range slices.Sorted(maps.Keys(c.Window.Models)) {
		if n := c.Window.Models[pattern]; pattern == "" || n < leastWindow {
			return unit.Wrong([]string{"window", "models", pattern},
				"cannot use window.models %q = %d: write a pattern such as gpt-*, and at least %d tokens", pattern, n, leastWindow)
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(c.Prices)) {
		if key, err := c.Prices[pattern].Check(); err != nil {
			return unit.Wrong([]string{"prices", pattern, key}, "cannot use prices.%q: %w", pattern, err)
		}
	}
	if c.Window.Default < leastWindow {
		return unit.Wrong([]string{"window", "default"},
			"cannot use window.default %d: write at least %d tokens", c.Window.Default, leastWindow)
	}
	if !slices.Contains([]string{"path", "url", "both", "tool", "auto", "none"}, c.Offload.Address) {
		return unit.Wrong([]string{"offload", "address"},
			"cannot use offload.address %q: write path, url, both, tool, auto or none", c.Offload.Address)
	}
	for _, number := range []struct {
		table, key string
		value      fmt.Stringer
		sound      bool
	}{
		{"offload", "quota", c.Offload.Quota, c.Offload.Quota > 0},
		{"store", "keep", c.Store.Keep, c.Store.Keep > 0},
		{"events", "quota", c.Events.Quota, c.Events.Quota > 0},
		{"store", "sync_every", c.Store.SyncEvery, c.Store.SyncEvery > 0},
	} {
		if !number.sound {
			return unit.Wrong([]string{number.table, number.key}, "cannot use %s.%s %s: it must be greater than zero",
				number.table, number.key, number.value)
		}
	}
	return nil
}

// isAddress reports whether something can be posted to a URL.
func isAddress(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// leastWindow is the smallest window in tokens that makes sense; a smaller number is a slip of the pen.
const leastWindow = 1024

// ParseWindow reads a window, as in 128000, 128k or 1M.
func ParseWindow(text string) (int, error) {
	var n unit.Tokens
	if err := n.UnmarshalText([]byte(text)); err == nil && n >= leastWindow && n <= unit.MostTokens {
		return int(n), nil
	}
	return 0, fmt.Errorf("cannot use window %q: write a number of tokens from %d to %d, as 128k or 128000", text, leastWindow, unit.MostTokens)
}
