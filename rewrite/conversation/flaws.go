package conversation

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"epitome/rewrite/jsonspan"
)

// Flaw is a broken rule of an API. Call is the ID of the call that breaks it; empty where the rule is not about calls.
type Flaw struct{ Rule, Call string }

func (f Flaw) String() string {
	if f.Call == "" {
		return f.Rule
	}
	return f.Rule + " (" + f.Call + ")"
}

// The rules, by what breaks them.
const (
	RuleOrphan     = "a tool's result answers no call that waits for it"
	RuleUnanswered = "a call is not answered"
	RuleLate       = "a result stands behind other content of its message"

	RuleNothing  = "a message says nothing"
	RuleBlank    = "a text is blank"
	RuleFirst    = "the first message is not the user's"
	RuleSystem   = "a message of the system stands where none may"
	RuleThinking = "an answer with thoughts does not begin with one"

	RuleReasoning = "what the model thought is apart from what it led to"
)

// Checker collects the flaws of a request whose items it is given one by one.
type Checker struct {
	Flaws []Flaw
	open  map[string]bool // IDs of the calls that wait for a result
}

// Add adds a flaw that is not about calls.
func (c *Checker) Add(rule string) { c.Flaws = append(c.Flaws, Flaw{Rule: rule}) }

// Pair checks that an item that is a result answers a call that waits for it. One that names no call need not.
func (c *Checker) Pair(it *Item) {
	if c.open == nil {
		c.open = map[string]bool{}
	}
	for _, call := range it.Calls {
		c.open[call.ID] = true
	}
	if it.Role != Tool || it.Answers == "" {
		return
	}
	if !c.open[it.Answers] {
		c.Flaws = append(c.Flaws, Flaw{RuleOrphan, it.Answers})
	}
	delete(c.open, it.Answers)
}

// Close checks that no call waits for a result any more.
func (c *Checker) Close() {
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		c.Flaws = append(c.Flaws, Flaw{RuleUnanswered, id})
	}
	clear(c.open)
}

// ErrBroken says that a request breaks rules as it came, and would break more of them rewritten.
var ErrBroken = errors.New("the request is broken as it came")

// Worse returns an error if a rewritten request breaks a rule that the original kept. A conversation that came in
// broken may stay broken, but must not become more so.
func Worse(original, rewritten *Request) error {
	if !jsonspan.Valid(rewritten.Body) {
		return jsonspan.ErrNoJSON
	}
	had := map[Flaw]int{}
	for _, f := range original.Dialect.Flaws(original) {
		had[f]++
	}
	isBroken := len(had) > 0
	for _, f := range rewritten.Dialect.Flaws(rewritten) {
		if had[f]--; had[f] >= 0 {
			continue
		}
		err := fmt.Errorf("the rewritten request breaks a rule: %s", f)
		if isBroken {
			err = fmt.Errorf("%w: %w", ErrBroken, err)
		}
		return err
	}
	return nil
}
