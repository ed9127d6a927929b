package conversation

import (
	"fmt"
	"maps"
	"slices"

	"epitome/rewrite/jsonspan"
)

// Checker collects the flaws of a request: sentences that say how it breaks a rule of its API, the same for the same
// flaw. A dialect passes it the items of the request in order.
type Checker struct {
	Flaws   []string
	waiting map[string]bool // IDs of the calls without a result so far
}

// Add adds a flaw. id is that of the call concerned; empty if there is none.
func (c *Checker) Add(flaw, id string) {
	if id != "" {
		flaw += " (" + id + ")"
	}
	c.Flaws = append(c.Flaws, flaw)
}

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
		c.Add("a tool's result answers no call that waits for it", it.Answers)
	}
	delete(c.waiting, it.Answers)
}

// Close adds a flaw for each call that still waits for a result. Dialects call it where no more results are allowed.
func (c *Checker) Close() {
	for _, id := range slices.Sorted(maps.Keys(c.waiting)) { // sorted, so that equal requests have equal errors
		c.Add("a call is not answered", id)
	}
	clear(c.waiting)
}

// Worse returns an error if a rewritten request is not JSON or has a flaw that the original did not have. Flaws of the
// original may stay: epitome does not repair requests.
func Worse(original, rewritten *Request) error {
	if !jsonspan.Valid(rewritten.Body) { // reading it has not validated all values
		return jsonspan.ErrNoJSON
	}
	remaining := map[string]int{} // how often the rewritten request may still have a flaw
	for _, f := range original.Dialect.Flaws(original) {
		remaining[f]++
	}
	for _, f := range rewritten.Dialect.Flaws(rewritten) {
		if remaining[f]--; remaining[f] < 0 {
			return fmt.Errorf("the rewritten request breaks a rule: %s", f)
		}
	}
	return nil
}
