package chat

import (
	"fmt"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// checker goes through a conversation once. It pairs calls and results by itself, as a server does that refuses what it
// finds: it counts how often a call is answered, and remembers the calls of older messages.
type checker struct {
	flaws []conversation.Flaw
	open  map[string]int // calls of the last assistant's message, with their results so far
	older map[string]bool
	apart bool // something stands between that message and here
}

func (c *checker) add(rule, call string) {
	c.flaws = append(c.flaws, conversation.Flaw{Rule: rule, Call: call})
}

func (c *checker) item(r *conversation.Request, i int) {
	it := &r.Items[i]
	switch it.Role {
	case conversation.Tool:
		c.result(it)
		return
	case conversation.Unknown:
		c.add(conversation.RuleRole, fmt.Sprint(i))
	case conversation.Assistant:
		c.close(true)
		c.calls(r, i)
		return
	}
	c.apart = true
}

func (c *checker) calls(r *conversation.Request, i int) {
	it := &r.Items[i]
	if it.Content.Empty() && len(it.Calls) == 0 {
		c.add(conversation.RuleEmpty, fmt.Sprint(i))
	}
	c.open, c.apart = make(map[string]int, len(it.Calls)), false
	for _, call := range it.Calls {
		c.open[call.ID] = 0
		if !call.FreeText && !span.HoldsJSON(call.Arguments.Of(r.Body)) {
			c.add(conversation.RuleArguments, call.ID)
		}
	}
}

func (c *checker) result(it *conversation.Item) {
	id := it.Answers
	n, called := c.open[id]
	switch {
	case !called && c.older[id]:
		c.add(conversation.RuleApart, id)
	case !called:
		c.add(conversation.RuleOrphan, id)
	case n > 0:
		c.add(conversation.RuleAnsweredTwice, id)
	case c.apart:
		c.add(conversation.RuleApart, id)
	}
	if called {
		c.open[id] = n + 1
	}
}

// close ends the group of the last assistant's message. Behind it must have come all its results.
func (c *checker) close(more bool) {
	if c.older == nil {
		c.older = make(map[string]bool)
	}
	for id, n := range c.open {
		if n == 0 && (more || c.apart) {
			c.add(conversation.RuleUnanswered, id)
		}
		c.older[id] = true
	}
	c.open = nil
}
