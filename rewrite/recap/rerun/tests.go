package rerun

import (
	"slices"
	"strings"
)

// LeavesOutNothingOf reports whether a run of Go's tests leaves out no test of its packages that another one has.
func LeavesOutNothingOf(now, before []string) bool {
	isRun := func(words []string) bool { return len(words) > 1 && words[0] == "go" && words[1] == "test" }
	switch {
	case !isRun(now) || !isRun(before):
		return false
	case areLong(now, before):
		return slices.Equal(now, before)
	}
	_, options := goTargets(now[2:])
	_, others := goTargets(before[2:])
	return slices.Equal(options, others) || len(options) == 0 && len(others) == 2 && others[0] == "-run"
}

// Run is what a run of Go's tests says.
type Run struct {
	ok, failed map[string]bool // packages: true in failed if the run names a test of it that failed
	tests      map[string]bool // that failed
	panics     bool
}

// Read reads what a run of Go's tests put out.
func Read(text string) *Run {
	run := &Run{ok: map[string]bool{}, failed: map[string]bool{}, tests: map[string]bool{}}
	named := false // a test of the package whose line comes next
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\r\n")
		switch fields := strings.SplitN(l, "\t", 3); {
		case len(fields) > 2 && fields[0] == "ok  ":
			run.ok[fields[1]] = !strings.Contains(l, "[no tests")
			named = false
		case len(fields) > 1 && fields[0] == "FAIL":
			name, why, _ := strings.Cut(fields[1], " ")
			run.failed[name], named = why == "" && named, false
		case strings.HasPrefix(l, "panic: "):
			run.panics = true
		default:
			if name, is := strings.CutPrefix(strings.TrimSpace(l), "--- FAIL: "); is {
				name, _, _ = strings.Cut(name, " ")
				run.tests[name], named = true, true
			}
		}
	}
	return run
}

// Passes reports whether the run shows that all passes which failed in an earlier one.
func (r *Run) Passes(before *Run) bool {
	for name := range before.failed {
		ranAgain := r.failed[name] && before.failed[name] && !r.panics
		if !r.ok[name] && !ranAgain {
			return false
		}
	}
	for name := range r.tests {
		if before.tests[name] {
			return false
		}
	}
	return len(before.failed) > 0
}
