package chat

import "epitome/rewrite/conversation"

// Flaws lists the calls and results that are not paired, which is all that a rewrite could break: results stand right
// behind the message that called, in any order. Calls of the last message may be unanswered: the client may be about to
// ask for more than their results.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	var c conversation.Checker
	for i := range r.Items {
		if r.Items[i].Role != conversation.Tool {
			c.Close()
		}
		c.Pair(&r.Items[i])
	}
	return c.Flaws
}
