package recap

import (
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/history"
	"epitome/rewrite/recap/rerun"
)

// signs are what programs write when they fail, and nothing else in a command line does, by the words with which they
// are called.
var signs = []struct {
	program string
	sign    *pattern.Pattern
}{
	{"git push", pattern.Of(`(?m)^ ! \[(?:remote )?rejected\] |^error: failed to push some refs to `)},
	{"go test", pattern.Of(`(?m)^\s*--- FAIL: |^FAIL\t`)},
	{"pytest", pattern.Of(`(?m)^FAILED \S+::\S|^=+ .*\b\d+ failed\b.* =+$`)},
	{"cargo test", pattern.Of(`(?m)^test result: FAILED\. `)},
}

// failedPart parts what a failed call did, as its result tells: what succeeded before, and what failed. Where the
// result does not tell which of several commands failed, all may have.
func (c *calls) failedPart(end *history.Result, tasks []task) (passed, failed []task) {
	isOfOther := func(t task) bool { return t.row != tasks[0].row }
	if len(tasks) < 2 || slices.ContainsFunc(tasks, isOfOther) {
		return nil, tasks
	}
	var found []int
	for _, s := range signs {
		var all []int // of its program
		for k := range tasks {
			if isOf(&tasks[k], s.program) {
				all = append(all, k)
			}
		}
		if len(all) > 0 && s.sign.MatchString(c.sum.p.TextOf(end.Item)) {
			found = append(found, all...)
		}
	}
	if len(found) != 1 {
		return nil, tasks
	}
	at := found[0]
	if !isOf(&tasks[at], "git push") && slices.ContainsFunc(tasks[at+1:], mayTest) {
		return nil, tasks
	}
	return tasks[:at], tasks[at : at+1] // those behind it did not run
}

// mayTest reports whether a task may run tests that its words do not name, as a hook of a commit does, and scripts do.
// A hook of a push leaves a sign of the push.
func mayTest(t task) bool {
	if isOf(&t, "git add") {
		return false
	}
	for _, s := range signs {
		if isOf(&t, s.program) {
			return false
		}
	}
	return true
}

// isOf reports whether a task is a call of the program.
func isOf(t *task, program string) bool {
	words, own := rerun.WithoutLaunchers(t.words), strings.Fields(program)
	return len(words) >= len(own) && slices.Equal(words[:len(own)], own)
}

// settle notes that tasks have succeeded, though the call that did them failed later on.
func (c *calls) settle(tasks []task) {
	for _, f := range c.concerned(tasks) {
		f.tasks = slices.DeleteFunc(slices.Clone(f.tasks), func(t task) bool {
			return slices.ContainsFunc(tasks, func(now task) bool { return now.covers(&t) })
		})
		if len(f.tasks) == 0 {
			c.mended[f.res], f.isClosed = true, true
		}
	}
}

// closeTests closes the failures of tests of Go which a later run shows to have passed since, though that run may have
// failed in something else. It looks at the newest failures alone.
func (c *calls) closeTests() {
	const most = 24 // failures
	read := map[*history.Result]*rerun.Run{}
	for _, f := range c.open[max(0, len(c.open)-most):] {
		if !f.isClosed && len(f.tasks) == 1 && c.passedSince(f, read) {
			c.mended[f.res], f.isClosed = true, true
		}
	}
}

// passedSince reports whether a run of tests behind the failure shows that what failed passes. read are the runs that
// are read.
func (c *calls) passedSince(f *failure, read map[*history.Result]*rerun.Run) bool {
	t := &f.tasks[0]
	testsIn := func(res *history.Result) *rerun.Run {
		if read[res] == nil {
			read[res] = rerun.Read(c.sum.p.TextOf(res.Item))
		}
		return read[res]
	}
	for _, r := range slices.Backward(c.newestRuns()) {
		if r.res.Item <= f.end.Item {
			break
		}
		isAlike := func(now task) bool {
			return !now.unseen && now.place == t.place && rerun.LeavesOutNothingOf(now.words, t.words)
		}
		if slices.ContainsFunc(r.tasks, isAlike) && testsIn(c.endOf(r.res)).Passes(testsIn(f.end)) {
			return true
		}
	}
	return false
}
