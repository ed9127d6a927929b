package config

import (
	"cmp"

	"epitome/summarize"
)

// Prepares reports whether questions of conversations with the upstream are answered ahead of need. A local server
// mostly works for one at a time: what it is asked in the background would make the agent wait, and push its
// conversation out of the cache.
func Prepares(c Config, upstream string) bool {
	switch c.Summarize.Prepare {
	case summarize.PrepareOn:
		return true
	case summarize.PrepareOff:
		return false
	}
	asked := cmp.Or(c.Summarize.Upstream, upstream)
	u, known := c.Upstreams[asked]
	return known && (asked != upstream || !IsLocal(u.URL))
}
