package chat

import (
	"slices"

	"epitome/rewrite/conversation"
)

// Flaws lists the calls and results that are not paired, which is all that a rewrite could break: results stand right
// behind the message that called, in any order. Calls of the last message may be unanswered: the client may be about to
// ask for more than their results.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	var c conversation.FlawList
	var open []string // IDs of the calls that wait for results
	for i := range r.Items {
		it := &r.Items[i]
		if it.Role == conversation.Tool {
			if k := slices.Index(open, it.Answers); k >= 0 {
				open = slices.Delete(open, k, k+1)
			} else {
				c.Add(conversation.RuleOrphan, it.Answers)
			}
			continue
		}
		for _, id := range open {
			c.Add(conversation.RuleUnanswered, id)
		}
		open = nil
		for _, call := range it.Calls {
			open = append(open, call.ID)
		}
	}
	return c.Flaws
}
