package fate

import (
	"slices"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/recap/errand"
	"epitome/rewrite/recap/rerun"
)

// run is a call with what it does.
type run struct {
	res     *history.Result
	errands []errand.Errand
}

// newestRuns are the calls that failures are held against.
func (c *Calls) newestRuns() []run {
	const most = 500
	return c.runs[max(0, len(c.runs)-most):]
}

// LaterRun is the newest call behind a failure that did all of it again, or more, and whose output tells how that
// ended; nil if there is none.
func (c *Calls) LaterRun(f *Failure) *history.Result {
	for _, r := range slices.Backward(c.newestRuns()) {
		if r.res.Item <= f.End.Item {
			break
		}
		ending := c.span.EndingOf(c.EndOf(r.res))
		if !ending.Failed() && !ending.Succeeded() || ending.Refusal.KeptAll() {
			continue
		}
		isAgain := func(t errand.Errand) bool {
			return slices.ContainsFunc(r.errands, func(now errand.Errand) bool {
				isUnknown := now.Hidden && ending.Claims == excerpt.Unknown // how the call ended is not how that did
				return !now.Unseen && !isUnknown && now.IsWhere(&t) && rerun.IsWider(now.Words, t.Words)
			})
		}
		if len(f.Errands) > 0 && !slices.ContainsFunc(f.Errands, func(t errand.Errand) bool { return !isAgain(t) }) {
			return c.EndOf(r.res)
		}
	}
	return nil
}

// ToldAgain notes that the output of a later run tells all of a failure once more.
func (c *Calls) ToldAgain(f *Failure) { c.note(f.Res).IsAgain = true }
