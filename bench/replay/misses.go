package replay

import (
	"epitome/bench/replay/figures"
)

// misses returns the first misses of each policy in each window, in the order of the files.
func (r *replayRun) misses(of []played) []figures.Miss {
	type cell struct {
		window int
		policy string
	}
	by := make(map[cell][]figures.Miss)
	for _, p := range of {
		for _, m := range p.misses {
			at := cell{m.Window, m.Policy}
			if len(by[at]) < r.Misses {
				by[at] = append(by[at], m)
			}
		}
	}
	var all []figures.Miss
	for _, window := range r.Windows {
		for _, policy := range r.policies {
			all = append(all, by[cell{window, policy.Name}]...)
		}
	}
	return all
}
