package conversation

import (
	"fmt"
	"maps"
	"slices"

	"epitome/dialect/jsonspan"
)

// Checker collects the flaws of a request: sentences that say how it breaks a rule of its API, the same for the same
// flaw. A dialect passes it the items of the request in order.
type Checker struct {
	Flaws   []string
	waiting map[string][2]int // by ID of a call without a result so far: its item, and its place there
	open    [][2]int          // the same of calls that have none where it has to be
	orphans []int             // indexes of results that answer no call
}

// Unpaired returns the calls without results, each as its item and its place there, and the items of results without calls.
func (r *Request) Unpaired() (calls [][2]int, results []int) {
	c := r.Dialect.Check(r)
	c.Close() // those at the end wait no longer
	return c.open, c.orphans
}

// Add adds a flaw. id is that of the call concerned; empty if there is none.
func (c *Checker) Add(flaw, id string) {
	if id != "" {
		flaw += " (" + id + ")"
	}
	c.Flaws = append(c.Flaws, flaw)
}

// Pair notes the calls of item i. For a result it adds a flaw if the call that the result names does not wait for one.
func (c *Checker) Pair(i int, it *Item) {
	if c.waiting == nil {
		c.waiting = map[string][2]int{}
	}
	for k, call := range it.Calls {
		c.waiting[call.ID] = [2]int{i, k}
	}
	if it.Role == Tool && it.Answers != "" { // some kinds of results name no call
		if _, waits := c.waiting[it.Answers]; !waits {
			c.Add("a tool's result answers no call that waits for it", it.Answers)
			c.orphans = append(c.orphans, i)
		}
		delete(c.waiting, it.Answers)
	}
}

// Close adds a flaw for each call that still waits for a result. Dialects call it where no more results are allowed.
func (c *Checker) Close() {
	for _, id := range slices.Sorted(maps.Keys(c.waiting)) { // sorted, so that equal requests have equal errors
		c.Add("a call is not answered", id)
		if id != "" { // else no result could name it
			c.open = append(c.open, c.waiting[id])
		}
	}
	clear(c.waiting)
}

// Worse returns an error if a rewritten request is not JSON or has a flaw that the original did not have. Flaws of the
// original may stay: epitome repairs none that no provider has refused.
func Worse(original, rewritten *Request) error {
	if !jsonspan.Valid(rewritten.Body) { // reading it has not validated all values
		return jsonspan.ErrNoJSON
	}
	remaining := map[string]int{} // how often the rewritten request may still have a flaw
	for _, f := range original.Dialect.Check(original).Flaws {
		remaining[f]++
	}
	for _, f := range rewritten.Dialect.Check(rewritten).Flaws {
		remaining[f]--
		if remaining[f] < 0 {
			return fmt.Errorf("the rewritten request breaks a rule: %s", f)
		}
	}
	return nil
}
