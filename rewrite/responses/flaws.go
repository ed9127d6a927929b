package responses

import "epitome/rewrite/conversation"

// Flaws lists the broken rules, of those that a rewrite could break: the model's reasoning must stay with the words or
// calls that it led to, and each call has one output, anywhere behind it.
func (Dialect) Flaws(r *conversation.Request) []string {
	var c conversation.Checker
	for i := range r.Items {
		it := &r.Items[i]
		if it.Role == model && len(it.Parts)+len(it.Calls) == 0 { // it is nothing but reasoning
			c.Add("what the model thought is apart from what it led to", "")
		}
		c.Pair(it)
	}
	c.Close()
	return c.Flaws
}
