package replay

import (
	"fmt"
	"slices"

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

// beatenFrom is the window from which on no baseline should beat a subject. What stands beside the messages fills so
// much of smaller ones that figures say more about that than about a policy.
const beatenFrom = 64_000

// countBeating counts the baselines that are cheaper than a subject and better in recall of hot and of older needs.
// They are named.
func (r *Report) countBeating(row Row, of string) report.Goal {
	value := 0.0
	goal := report.Goal{Name: "cheaper and better in recall" + of, Unit: "baselines", Value: &value}
	for _, x := range r.Rows {
		if x.Window == row.Window && !slices.Contains(r.Subjects, x.Policy) && below(x.Cost, row.Cost) &&
			below(row.Recall, x.Recall) && below(row.Older, x.Older) {
			value++
			goal.Name += " (" + x.Policy + ")"
		}
	}
	return goal
}

// below reports whether both figures are known and a is less.
func below(a, b *float64) bool { return a != nil && b != nil && *a < *b }
