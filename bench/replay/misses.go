package replay

import (
	"fmt"

	"epitome/bench/report"
)

// Miss is something that an answer's calls name, that the conversation held before, and that the request for the
// answer lacks.
type Miss struct {
	Window       int    `json:"window"` // tokens
	Policy       string `json:"policy"`
	Conversation string `json:"conversation"` // its file
	Request      int    `json:"request"`      // from 1
	Name         string `json:"name"`
	Age          int    `json:"age"`         // groups since it was last seen
	Retrievable  bool   `json:"retrievable"` // an artifact that the request names holds it
}

// misses returns the first misses of each policy in each window, in the order of the files.
func (r *replayRun) misses(of []played) []Miss {
	type cell struct {
		window int
		policy string
	}
	by := make(map[cell][]Miss)
	for _, p := range of {
		for _, m := range p.misses {
			at := cell{m.Window, m.Policy}
			if len(by[at]) < r.Misses {
				by[at] = append(by[at], m)
			}
		}
	}
	var all []Miss
	for _, window := range r.Windows {
		for _, policy := range r.policies {
			all = append(all, by[cell{window, policy.Name}]...)
		}
	}
	return all
}

// printMisses writes misses, a table for each policy in each window.
func printMisses(t report.Table, all []Miss) {
	for i, m := range all {
		if i == 0 || m.Window != all[i-1].Window || m.Policy != all[i-1].Policy {
			t.Section(fmt.Sprintf("Missed first by %s in a window of %d tokens", m.Policy, m.Window),
				"what\tconversation\trequest\tage\tretrievable")
		}
		back := "no"
		if m.Retrievable {
			back = "yes"
		}
		t.Row("%q\t%s\t%d\t%d\t%s", m.Name, m.Conversation, m.Request, m.Age, back)
	}
}
