package fate

import (
	"slices"

	"epitome/rewrite/history"
	"epitome/rewrite/recap/errand"
	"epitome/rewrite/recap/rerun"
)

// settle notes that errands have succeeded, though the call that did them failed later on.
func (c *Calls) settle(errands []errand.Errand) {
	for _, f := range c.concerned(errands) {
		f.Errands = slices.DeleteFunc(slices.Clone(f.Errands), func(t errand.Errand) bool {
			return slices.ContainsFunc(errands, func(now errand.Errand) bool { return now.Covers(&t) })
		})
		if len(f.Errands) == 0 {
			mend(c, f)
		}
	}
}

// closeTests closes the failures of tests of Go which a later run shows to have passed since, though that run may have
// failed in something else. It looks at the newest failures alone.
func (c *Calls) closeTests() {
	const most = 24 // failures
	read := map[*history.Result]*rerun.Run{}
	for _, f := range c.Open[max(0, len(c.Open)-most):] {
		if !f.isClosed && len(f.Errands) == 1 && c.passedSince(f, read) {
			mend(c, f)
		}
	}
}

// passedSince reports whether a run of tests behind the failure shows that what failed passes. read are the runs that
// are read.
func (c *Calls) passedSince(f *Failure, read map[*history.Result]*rerun.Run) bool {
	t := &f.Errands[0]
	testsIn := func(res *history.Result) *rerun.Run {
		if read[res] == nil {
			read[res] = rerun.Read(c.span.TextOf(res))
		}
		return read[res]
	}
	for _, r := range slices.Backward(c.newestRuns()) {
		if r.res.Item <= f.End.Item {
			break
		}
		isAlike := func(now errand.Errand) bool {
			return !now.Unseen && now.Place == t.Place && rerun.LeavesOutNothingOf(now.Words, t.Words)
		}
		if slices.ContainsFunc(r.errands, isAlike) && testsIn(c.EndOf(r.res)).Passes(testsIn(f.End)) {
			return true
		}
	}
	return false
}
