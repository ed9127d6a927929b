package responses

import "epitome/dialect/conversation"

// Check finds the broken rules, of those that a rewrite could break: the model's reasoning must stay with the words or
// calls that it led to, and each call has one output, anywhere behind it.
func (Dialect) Check(r *conversation.Request) *conversation.Checker {
	c := new(conversation.Checker)
	for i := range r.Items {
		it := &r.Items[i]
		if it.Role == model && len(it.Parts)+len(it.Calls) == 0 { // it is nothing but reasoning
			c.Add("what the model thought is apart from what it led to", "")
		}
		c.Pair(i, it)
	}
	c.Close()
	return c
}
