package figures

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
