package chat

import "epitome/dialect/conversation"

// Check finds the calls and results that are not paired, the only rule of this API that a rewrite could break: the
// results of a message's calls stand right behind it, in any order. The calls of the last message may be unanswered:
// the client may ask for something before it has their results.
func (Dialect) Check(r *conversation.Request) *conversation.Checker {
	c := new(conversation.Checker)
	for i := range r.Items {
		if r.Items[i].Role != conversation.Tool {
			c.Close()
		}
		c.Pair(i, &r.Items[i])
	}
	return c
}
