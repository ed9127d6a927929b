package rewrite

import "fmt"

// Flaw is a rule of a conversation's structure that is broken.
type Flaw struct {
	Rule string
	Call string // the id of the call or result in question, or the number of the item where there is none
}

func (f Flaw) String() string { return f.Rule + " (" + f.Call + ")" }

// The rules, by what breaks them.
const (
	orphan       = "a tool's result answers no call before it"
	unanswered   = "a call is not answered"
	answeredBack = "a call is answered twice"
	apart        = "a result is apart from the message that called"
	arguments    = "a call's arguments are not JSON"
	role         = "a role is unknown"
	empty        = "an assistant's message has neither content nor calls"
)

// Flaws are all rules that the conversation breaks. Calls of the last message may be unanswered: the client may be
// about to ask for more than their results.
func (r *Request) Flaws() []Flaw {
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
		id := idOf(it, call)
		c.open[id] = 0
		if !call.FreeText && !soundArguments(call.Arguments.Of(r.Body)) {
			c.add(arguments, id)
		}
	}
}

// idOf is what a call's result names; a legacy call is named by its function.
func idOf(it *Item, c Call) string {
	if it.Legacy && c.ID == "" {
		return "function " + c.Name
	}
	return c.ID
}

// answered is the id of the call that a result is for.
func answered(it *Item) string {
	if it.Legacy && it.Answers == "" {
		return "function " + it.Name
	}
	return it.Answers
}

func (c *checker) result(it *Item) {
	id := answered(it)
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

// Worse says what is wrong with a rewritten conversation that was not wrong with its original, nil if nothing is. What
// came in broken may stay broken, but not become more so.
func Worse(original, rewritten *Request) error {
	if !valid(rewritten.Body) {
		return errNoJSON
	}
	had := make(map[Flaw]int)
	for _, f := range original.Flaws() {
		had[f.placeless()]++
	}
	for _, f := range rewritten.Flaws() {
		f = f.placeless()
		if had[f]--; had[f] < 0 {
			return fmt.Errorf("the rewritten conversation would be worse: %s", f)
		}
	}
	return nil
}

// placeless is the flaw without what a rewrite may change: the number of its item, and whether the call is still there
// that a superfluous result names.
func (f Flaw) placeless() Flaw {
	if f.Rule == apart || f.Rule == answeredBack {
		f.Rule = orphan
	}
	if f.Rule == role || f.Rule == empty {
		f.Call = ""
	}
	return f
}
