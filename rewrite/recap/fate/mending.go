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

// closeTests closes the failures of tests which later runs show to have passed since, though those may have failed in
// something else, or have run other tests, too. It looks at the newest failures alone.
func (c *Calls) closeTests() {
	const most = 24 // failures
	read, cases := map[*history.Result]*rerun.Run{}, map[*history.Result]*rerun.Cases{}
	for _, f := range c.Open[max(0, len(c.Open)-most):] {
		if f.isClosed || len(f.Errands) != 1 {
			continue
		}
		if c.passedSince(f, read) || rerun.RunsTests(f.Errands[0].Words) && c.casesPassedSince(f, cases) {
			mend(c, f)
		}
	}
}

// casesPassedSince reports whether all tests that failed in a run, as it names them, have passed in runs behind it, by
// name or because a run of pytest is of them. read are the runs that are read.
func (c *Calls) casesPassedSince(f *Failure, read map[*history.Result]*rerun.Cases) bool {
	casesIn := func(res *history.Result) *rerun.Cases {
		if read[res] == nil {
			read[res] = rerun.ReadCases(c.span.TextOf(res))
		}
		return read[res]
	}
	left := casesIn(f.End).Failed()
	if len(left) == 0 {
		return false
	}
	was, _ := rerun.PytestOf(f.Errands[0].Words)
	for _, r := range slices.Backward(c.newestRuns()) {
		if r.res.Item <= f.End.Item || len(left) == 0 {
			break
		}
		runs, isThere := c.again(f, &r)
		if !isThere {
			continue
		}
		cases := casesIn(c.EndOf(r.res))
		left = slices.DeleteFunc(left, func(id string) bool {
			return cases.HasPassed(id) || runs != nil && runs.Runs(id, was)
		})
	}
	return len(left) == 0
}

// again reports whether a later call does anything but git where the failure f did what failed, with all that was set
// for that, and nothing on another machine or other work: it may run tests again. runs is the call of pytest that it is
// then, if the failure was one, too, and if all that it ran has passed; else nil.
func (c *Calls) again(f *Failure, r *run) (runs *rerun.Pytest, isThere bool) {
	t := &f.Errands[0]
	_, wasPytest := rerun.PytestOf(t.Words)
	machine, _ := rerun.Machine(t.Words)
	for k := range r.errands {
		now := &r.errands[k]
		if now.Words[0] == "git" || rerun.StartsOnly(now.Words) {
			continue
		}
		if on, _ := rerun.Machine(now.Words); on != machine || now.Work != t.Work && !now.IsWhere(t) {
			return nil, false
		}
		if !now.IsWhere(t) || !rerun.SetsAll(now.Words, t.Words) {
			continue
		}
		isThere = true
		call, is := rerun.PytestOf(now.Words)
		if wasPytest && is && now.Succeeds(c.span.EndingOf(c.EndOf(r.res)), t, c.span.EndingOf(f.End)) {
			return call, true
		}
	}
	return nil, isThere
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
			return !now.Unseen && now.IsWhere(t) && rerun.LeavesOutNothingOf(now.Words, t.Words)
		}
		if slices.ContainsFunc(r.errands, isAlike) && testsIn(c.EndOf(r.res)).Passes(testsIn(f.End)) {
			return true
		}
	}
	return false
}
