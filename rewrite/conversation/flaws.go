package conversation

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"epitome/rewrite/jsonspan"
)

// Flaw is a rule of an API that a request breaks. Call is the ID of the call concerned; empty if there is none.
type Flaw struct{ Rule, Call string }

func (f Flaw) String() string {
	if f.Call == "" {
		return f.Rule
	}
	return f.Rule + " (" + f.Call + ")"
}

// The rules. The text of each says how a request breaks it.
const (
	RuleOrphan     = "a tool's result answers no call that waits for it"
	RuleUnanswered = "a call is not answered"

	RuleLate      = "a result stands behind other content of its message" // this and the next five are of Messages alone
	RuleNothing   = "a message says nothing"
	RuleBlank     = "a text is blank"
	RuleFirst     = "the first message is not the user's"
	RuleSystem    = "a message of the system stands where none may"
	RuleThinking  = "an answer with thoughts does not begin with one"
	RuleReasoning = "what the model thought is apart from what it led to" // of Responses alone
)

// Checker collects the flaws of a request. A dialect passes it the items of the request in order.
type Checker struct {
	Flaws   []Flaw
	waiting map[string]bool // IDs of the calls without a result so far
}

// Add adds a flaw that is not about calls.
func (c *Checker) Add(rule string) { c.Flaws = append(c.Flaws, Flaw{Rule: rule}) }

// Pair notes an item's calls. For a result it adds a flaw if the call that the result names does not wait for one.
func (c *Checker) Pair(it *Item) {
	if c.waiting == nil {
		c.waiting = map[string]bool{}
	}
	for _, call := range it.Calls {
		c.waiting[call.ID] = true
	}
	if it.Role != Tool || it.Answers == "" { // some kinds of results name no call
		return
	}
	if !c.waiting[it.Answers] {
		c.Flaws = append(c.Flaws, Flaw{RuleOrphan, it.Answers})
	}
	delete(c.waiting, it.Answers)
}

// Close adds a flaw for each call that still waits for a result. Dialects call it where no more results are allowed.
func (c *Checker) Close() {
	for _, id := range slices.Sorted(maps.Keys(c.waiting)) { // sorted, so that equal requests have equal errors
		c.Flaws = append(c.Flaws, Flaw{RuleUnanswered, id})
	}
	clear(c.waiting)
}

// ErrBroken is wrapped by errors of Worse about a request that had flaws before it was rewritten.
var ErrBroken = errors.New("the request is broken as it came")

// Worse returns an error if a rewritten request is not JSON or has a flaw that the original did not have. Flaws of the
// original may stay: epitome does not repair requests.
func Worse(original, rewritten *Request) error {
	if !jsonspan.Valid(rewritten.Body) { // reading it has not validated all values
		return jsonspan.ErrNoJSON
	}
	remaining := map[Flaw]int{} // how often the rewritten request may still have a flaw
	for _, f := range original.Dialect.Flaws(original) {
		remaining[f]++
	}
	isBroken := len(remaining) > 0
	for _, f := range rewritten.Dialect.Flaws(rewritten) {
		if remaining[f]--; remaining[f] >= 0 {
			continue
		}
		err := fmt.Errorf("the rewritten request breaks a rule: %s", f)
		if isBroken { // the client's error may have led to this one, so callers report no failure of epitome
			err = fmt.Errorf("%w: %w", ErrBroken, err)
		}
		return err
	}
	return nil
}
