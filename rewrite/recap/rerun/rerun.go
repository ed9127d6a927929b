// Package rerun tells of two calls of a tool whether the later one did all that the earlier had done, and of runs of
// tests which of them shows that what failed passes.
//
// It promises that something counts as passing only where the run's own lines say so, or where a call of pytest is of
// it for sure, that what ran on another machine counts for nothing, and that calls of very many words are held against
// their equals alone: each call is held against many.
package rerun

import (
	"slices"
	"strings"
)

// mostWords is of how many words a call is at most that is held against calls other than its equals.
const mostWords = 32

// areLong reports whether one of two calls has too many words to be held against the other.
func areLong(now, before []string) bool { return max(len(now), len(before)) > mostWords }

// runners are tools by the words with which their calls begin: what follows those names what they are to look at, and
// without it they look at all.
var runners = [...]string{"pytest", "py.test", "jest", "vitest", "mypy", "eslint", "rspec", "phpunit", "ruff check",
	"cargo test", "cargo check", "cargo build", "cargo clippy", "mix test", "tox"}

// IsWider reports whether a command does at least what another one of the same tool did.
func IsWider(now, before []string) bool {
	if slices.Equal(now, before) || Covers(now, before) {
		return true
	}
	if areLong(now, before) {
		return false
	}
	now, before, isAlike := withoutSame(now, before)
	if !isAlike {
		return false
	}
	now, before = WithoutLaunchers(now), WithoutLaunchers(before)
	isOption := func(w string) bool { return strings.HasPrefix(w, "-") }
	for _, w := range now {
		if isOption(w) && !slices.Contains(before, w) && !isHarmless(now[0], w) {
			return false
		}
	}
	for _, w := range before {
		if isOption(w) && !slices.Contains(now, w) && !isHarmless(before[0], w) && !leavesOut(before[0], w) {
			return false
		}
	}
	nowTargets := slices.DeleteFunc(slices.Clone(now), isOption)
	targets := slices.DeleteFunc(slices.Clone(before), isOption)
	if slices.Equal(nowTargets, targets) {
		return true
	}
	n := lenOfRunner(nowTargets)
	if n == 0 || n > len(targets) || !slices.Equal(targets[:n], nowTargets[:n]) {
		return false
	}
	nowTargets, targets = nowTargets[n:], targets[n:]
	isOutside := func(target string) bool { return !isWithin(target, nowTargets) }
	return len(nowTargets) == 0 || len(targets) > 0 && !slices.ContainsFunc(targets, isOutside)
}

// withoutSame are two calls without the variables that both set at their beginning; isAlike is false if those differ.
func withoutSame(one, other []string) (a, b []string, isAlike bool) {
	set, a := Assignments(one)
	same, b := Assignments(other)
	return a, b, slices.Equal(set, same)
}

// Assignments are the variables that the words of a call set at their beginning, and the words behind them.
func Assignments(words []string) (set, rest []string) {
	isSet := func(w string) bool {
		name, _, is := strings.Cut(w, "=")
		return is && name != "" && strings.Trim(name, letters) == "" && strings.Trim(name[:1], digits) != ""
	}
	n := 0
	for n < len(words) && isSet(words[n]) {
		n++
	}
	return words[:n], words[n:]
}

// The characters of a variable's name.
const (
	digits  = "0123456789"
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_" + digits
)

// lenOfRunner is how many words name the runner with which a call begins; 0 if it is none.
func lenOfRunner(words []string) int {
	for _, r := range runners {
		if tool := strings.Fields(r); len(words) >= len(tool) && slices.Equal(tool, words[:len(tool)]) {
			return len(tool)
		}
	}
	return 0
}

// isWithin reports whether a target is one of all, or lies in a folder or file that is one of them.
func isWithin(target string, all []string) bool {
	return slices.ContainsFunc(all, func(a string) bool {
		a = strings.TrimSuffix(a, "/")
		return target == a || a == "." || strings.HasPrefix(target, a+"/") || strings.HasPrefix(target, a+"::")
	})
}

// isHarmless reports whether with an option a tool does no less, and says no less of it.
func isHarmless(tool, option string) bool {
	if tool == "make" {
		return option == "-k" || option == "--keep-going" || strings.HasPrefix(option, "-j")
	}
	switch option {
	case "-v", "-vv", "-q", "-s", "-ra", "-rA", "--verbose", "--quiet", "--no-header", "-count=1":
		return true
	}
	return strings.HasPrefix(option, "--tb=") || strings.HasPrefix(option, "--color")
}

// leavesOut reports whether with an option a tool does less than without it, or nothing else.
func leavesOut(tool, option string) bool {
	if tool == "pytest" && onlyShows(option) {
		return true
	}
	name, _, _ := strings.Cut(option, "=")
	switch name {
	case "-short", "-failfast", "-run", "--bail", "--fail-fast", "--failfast", "--lib", "--bins", "--doc", "--testNamePattern",
		"--testPathPattern", "--onlyChanged", "--lf", "--last-failed":
		return true
	}
	return false
}

// WithoutLaunchers leaves out programs that only start the one behind them.
func WithoutLaunchers(words []string) []string {
	words = withoutEditor(words)
	for len(words) > 2 {
		switch {
		case (words[0] == "python" || words[0] == "python3") && words[1] == "-m":
			words = words[2:]
		case (words[0] == "uv" || words[0] == "poetry" || words[0] == "pipenv") && words[1] == "run":
			words = words[2:]
		case words[0] == "npx":
			words = words[1:]
		default:
			return words
		}
	}
	return words
}

// Covers reports whether a run of Go's tools, or of pytest, is one of all that the other one on its machine is of.
func Covers(all, some []string) bool {
	where, inner := Machine(all)
	if there, other := Machine(some); where != there {
		return false
	} else if where != "" {
		all, some = inner, other
	}
	if run, ok := PytestOf(all); ok {
		other, ok := PytestOf(some)
		return ok && run.Covers(other)
	}
	if areLong(all, some) {
		return false
	}
	all, some, isAlike := withoutSame(all, some)
	if !isAlike || len(all) < 3 || len(some) < 3 || all[0] != "go" || some[0] != "go" || all[1] != some[1] ||
		!slices.Contains([]string{"test", "vet", "build"}, all[1]) {
		return false
	}
	allTargets, allOptions := goTargets(all[2:])
	someTargets, someOptions := goTargets(some[2:])
	for k := 0; k < len(someOptions); k++ { // a run without a filter is one of all
		if someOptions[k] == "-run" && !slices.Contains(allOptions, "-run") && k+1 < len(someOptions) {
			someOptions = slices.Delete(someOptions, k, k+2)
			k--
		}
	}
	if !slices.Equal(allOptions, someOptions) || len(someTargets) == 0 {
		return false
	}
	for _, target := range someTargets {
		local := target == "." || strings.HasPrefix(target, "./")
		if !slices.Contains(allTargets, target) && (!local || !slices.Contains(allTargets, "./...")) {
			return false
		}
	}
	return true
}

// goTargets parts the words of a run of Go's tools. Options that change nothing of what is run are left out.
func goTargets(words []string) (targets, options []string) {
	for k := 0; k < len(words); k++ {
		switch w := words[k]; {
		case w == "-v" || w == "-count=1":
		case w == "-run" && k+1 < len(words):
			options = append(options, w, words[k+1])
			k++
		case w == "." || strings.HasPrefix(w, "./"):
			targets = append(targets, w)
		default:
			options = append(options, w)
		}
	}
	return targets, options
}

// operations are what git goes on with until it is told that conflicts are resolved, or to stop.
var operations = []string{"rebase", "cherry-pick", "revert", "merge", "am"}

// Operation is what a call of git begins or goes on with that conflicts may stop; empty if it is none. A commit may end
// any of them.
func Operation(words []string) string {
	if len(words) > mostWords {
		return ""
	}
	if words = withoutEditor(words); len(words) < 2 || words[0] != "git" {
		return ""
	}
	isOfStash := words[1] == "stash" && len(words) > 2 && slices.Contains([]string{"pop", "apply", "drop"}, words[2])
	if words[1] == "commit" || isOfStash || slices.Contains(operations, words[1]) {
		return "git " + words[1]
	}
	return ""
}

// editors are settings by which git calls another editor, or none.
var editors = []string{"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL", "core.editor", "sequence.editor"}

// withoutEditor are the words of a call of git without the editor that is set for it alone; the words as they are if it
// is none.
func withoutEditor(words []string) []string {
	isEditor := func(w string) bool {
		name, _, ok := strings.Cut(w, "=")
		return ok && slices.Contains(editors, name)
	}
	rest := words
	for len(rest) > 0 && isEditor(rest[0]) {
		rest = rest[1:]
	}
	if len(words) > mostWords || len(rest) == 0 || rest[0] != "git" {
		return words
	}
	for len(rest) > 3 && rest[1] == "-c" && isEditor(rest[2]) {
		rest = append([]string{"git"}, rest[3:]...)
	}
	return rest
}

// Commits reports whether a call of git commits, and an earlier one was to: what that one had staged is in it, whatever
// the message. One that leaves out the hooks does not: they may be what failed.
func Commits(now, before []string) bool {
	const commit = "git commit"
	return Operation(now) == commit && Operation(before) == commit && !slices.Contains(now, "--dry-run") &&
		!commitsPart(now) && (!skipsHooks(now) || skipsHooks(before))
}

// commitsPart reports whether a commit may leave out what is staged: it names files, or asks what it is to be of.
func commitsPart(words []string) bool {
	words = withoutEditor(words)
	for k := 2; k < len(words); k++ {
		w := words[k]
		switch {
		case !strings.HasPrefix(w, "-"), w == "--", w == "--only", w == "--patch", w == "--interactive",
			strings.HasPrefix(w, "--pathspec"):
			return true
		case strings.HasPrefix(w, "--"):
			if slices.Contains(commitTakes, w) {
				k++
			}
		default: // letters, of which one may have its value behind it
			at := strings.IndexAny(w, "mFCct")
			if at < 0 {
				at = len(w)
			} else if at == len(w)-1 {
				k++
			}
			if strings.ContainsAny(w[:at], "op") {
				return true
			}
		}
	}
	return false
}

// skipsHooks reports whether a commit calls none of the hooks that may refuse it.
func skipsHooks(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		letters, _, _ := strings.Cut(w, "m") // behind it the message may stand
		return w == "--no-verify" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(letters, "n")
	})
}

// commitTakes are options of a commit that have their value in the next word.
var commitTakes = []string{"--message", "--file", "--author", "--date", "--template", "--trailer", "--cleanup",
	"--reuse-message", "--reedit-message", "--fixup", "--squash"}

// Concludes reports whether a call ends what an earlier one of git began, which conflicts have stopped: it goes on with
// that to its end, or takes it back.
func Concludes(now, before []string) bool {
	one, other := Operation(now), Operation(before)
	switch {
	case one == "" || other == "" || other == "git commit":
		return false
	case one == "git stash": // what was put aside lies there, with its conflicts, until it is dropped
		return one == other && slices.Contains(now, "drop")
	case one == "git commit":
		return other == "git merge" || other == "git cherry-pick" || other == "git revert"
	}
	return one == other && slices.ContainsFunc(now, func(w string) bool {
		return w == "--continue" || w == "--abort" || w == "--skip" || w == "--quit"
	})
}
