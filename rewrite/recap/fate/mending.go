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

// closeTests closes the failures of tests of Go and of pytest which later runs show to have passed since, though those
// may have failed in something else, or have run other tests, too. It looks at the newest failures alone.
func (c *Calls) closeTests() {
	const most = 24 // failures
	read, cases := map[*history.Result]*rerun.Run{}, map[*history.Result]*rerun.Cases{}
	for _, f := range c.Open[max(0, len(c.Open)-most):] {
		if !f.isClosed && len(f.Errands) == 1 && (c.passedSince(f, read) || c.casesPassedSince(f, cases)) {
			mend(c, f)
		}
	}
}

// casesPassedSince reports whether all tests that failed in a run of pytest have passed in runs behind it. read are the
// runs that are read.
func (c *Calls) casesPassedSince(f *Failure, read map[*history.Result]*rerun.Cases) bool {
	call, ok := rerun.PytestOf(f.Errands[0].Words)
	if !ok {
		return false
	}
	casesIn := func(res *history.Result) *rerun.Cases {
		if read[res] == nil {
			read[res] = rerun.ReadCases(c.span.TextOf(res))
		}
		return read[res]
	}
	if !casesIn(f.End).AreAll() {
		return false
	}
	left := slices.Clone(casesIn(f.End).Failed)
	for _, r := range slices.Backward(c.newestRuns()) {
		if r.res.Item <= f.End.Item || len(left) == 0 {
			break
		}
		runs, hasPassed := c.again(f, call, &r)
		if runs == nil {
			continue
		}
		cases := casesIn(c.EndOf(r.res))
		left = slices.DeleteFunc(left, func(id string) bool { return hasPassed && runs.Runs(id) || cases.Passed[id] })
	}
	return len(left) == 0
}

// again is how a later run calls pytest where the failure f did, with all that was set for its call, and whether all
// that it ran has passed; nil if it does not.
func (c *Calls) again(f *Failure, call *rerun.Pytest, r *run) (now *rerun.Pytest, hasPassed bool) {
	for k := range r.errands {
		t := &r.errands[k]
		if now, ok := rerun.PytestOf(t.Words); ok && t.Place == f.Errands[0].Place && now.SetsAll(call) {
			return now, t.Succeeds(c.span.EndingOf(c.EndOf(r.res)), &f.Errands[0], c.span.EndingOf(f.End))
		}
	}
	return nil, false
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
