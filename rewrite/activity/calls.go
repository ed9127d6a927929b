package activity

import "epitome/rewrite/conversation"

// Calls pairs results with the calls of the last assistant's message.
type Calls struct {
	open map[string][]Call // by id
}

// NewCalls knows of no call.
func NewCalls() *Calls { return &Calls{open: map[string][]Call{}} }

// Learn takes in the calls of an assistant's message, and forgets those of the answer before.
func (c *Calls) Learn(r *conversation.Request, it *conversation.Item) {
	if it.Begins {
		clear(c.open)
	}
	for k := range it.Calls {
		call := &it.Calls[k]
		c.open[call.ID] = append(c.open[call.ID], Of(r.Body, call))
	}
}

// Answered is the call that the result in an item answers. Calls that share an id are answered in their order; the last
// of them may be answered again. A result without a call has only the name that it says itself.
func (c *Calls) Answered(it *conversation.Item) (call Call) {
	if all := c.open[it.Answers]; len(all) > 0 {
		call = all[0]
		if len(all) > 1 {
			c.open[it.Answers] = all[1:]
		}
	}
	if call.Said = it.Verdict; call.Tool == "" {
		call.Tool = it.Name
	}
	return call
}
