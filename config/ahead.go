package config

import (
	"cmp"
	"maps"
	"slices"

	"epitome/internal/unit"
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

// CheckAhead says of distill why nothing comes of it, for each upstream of which that is so.
func CheckAhead(c Config) (idle []error) {
	if !c.Summarize.Distill {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.Upstreams)) {
		itsOwn := name == c.Summarize.Upstream && name != c.Upstream // it may be there for that alone
		if !itsOwn && !Prepares(c, name) {
			idle = append(idle, c.Locate(unit.Wrong([]string{"summarize", "distill"},
				"summarize.distill does nothing for conversations with the upstream %s: with prepare = %q, nothing is asked ahead of "+
					"need at %s, which is on this machine or in its network; write prepare = %q, or name another upstream in "+
					"summarize.upstream", name, c.Summarize.Prepare, c.Upstreams[name].URL, summarize.PrepareOn)))
		}
	}
	return idle
}
