package rewrite

import "fmt"

// Flaws are all rules that the conversation breaks. Calls of the last message may be unanswered: the client may be
// about to ask for more than their results.
func (Chat) Flaws(r *Request) []Flaw {
	var c checker
	for i := range r.Items {
		c.item(r, i)
	}
	c.close(false)
	return c.flaws
}

// checker goes through a conversation once.
type checker struct {
	flaws []Flaw
	open  map[string]int // calls of the last assistant's message, with their results so far
	older map[string]bool
	apart bool // something stands between that message and here
}

func (c *checker) add(rule, call string) { c.flaws = append(c.flaws, Flaw{rule, call}) }

func (c *checker) item(r *Request, i int) {
	it := &r.Items[i]
	switch it.Role {
	case Tool:
		c.result(it)
		return
	case Unknown:
		c.add(role, fmt.Sprint(i))
	case Assistant:
		c.close(true)
		c.calls(r, i)
		return
	}
	c.apart = true
}

func (c *checker) calls(r *Request, i int) {
	it := &r.Items[i]
	if it.Content.Empty() && len(it.Calls) == 0 {
		c.add(empty, fmt.Sprint(i))
	}
	c.open, c.apart = make(map[string]int, len(it.Calls)), false
	for _, call := range it.Calls {
		c.open[call.ID] = 0
		if !call.FreeText && !soundArguments(call.Arguments.Of(r.Body)) {
			c.add(arguments, call.ID)
		}
	}
}

func (c *checker) result(it *Item) {
	id := it.Answers
	n, called := c.open[id]
	switch {
	case !called && c.older[id]:
		c.add(apart, id)
	case !called:
		c.add(orphan, id)
	case n > 0:
		c.add(answeredBack, id)
	case c.apart:
		c.add(apart, id)
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
			c.add(unanswered, id)
		}
		c.older[id] = true
	}
	c.open = nil
}

// soundArguments reports whether the arguments, a JSON string, hold JSON or nothing.
func soundArguments(quoted []byte) bool {
	if len(quoted) == 0 || quoted[0] != '"' {
		return true
	}
	s, err := unquote(quoted)
	return err == nil && (s == "" || valid([]byte(s)))
}
