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

// Flaws are all rules of its dialect that the conversation breaks.
func (r *Request) Flaws() []Flaw { return r.Dialect.Flaws(r) }

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
