package errand

import (
	"slices"
	"strings"

	"epitome/pattern"
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
	{"node --test", pattern.Of(`(?m)^# fail [1-9]|^\x{2139} fail [1-9]`)},
	{"jest", pattern.Of(`(?m)^Tests: +.*\b[1-9]\d* failed`)},
	{"vitest", pattern.Of(`(?m)^ *Tests +[1-9]\d* failed`)},
	{"unittest", pattern.Of(`(?m)^FAILED \((?:failures|errors|unexpected successes)=`)},
	{"ruby", pattern.Of(`(?m)^\d+ runs, .*\b[1-9]\d* (?:failures|errors)`)},
	{"ctest", pattern.Of(`(?m)^Errors while running CTest`)},
	{"ninja", pattern.Of(`(?m)^ninja: build stopped: `)},
	{"cmake --build", pattern.Of(`(?m)^ninja: build stopped: `)},
	{"gh pr create", pattern.Of(`(?m)^pull request create failed: `)},
	{"git rebase", pattern.Of(conflict)}, {"git cherry-pick", pattern.Of(conflict)},
	{"git revert", pattern.Of(conflict)}, {"git merge", pattern.Of(conflict)},
}

// conflict finds what git says where conflicts stop it, or where it has no editor to go on with.
const conflict = `(?m)^CONFLICT \(|^error: could not commit staged changes`

// waitForm finds what git says of an operation that it has begun, and that is to go on or to be taken back: one that it
// refused to begin it ends with other words.
var waitForm = pattern.Of(`(?m)^CONFLICT \(|^error: could not (?:apply|revert) |^Automatic merge failed|` +
	`\bgit (?:rebase|cherry-pick|revert|merge|am) --(?:continue|skip)\b|^Not committing merge;|^You must edit all merge`)

// NoteWaiting notes which errands that failed are operations of git that wait, and which lack what they are to work on,
// as their output tells.
func NoteWaiting(failed []Errand, output func() string) {
	for k := range failed {
		if rerun.Operation(failed[k].Words) != "" {
			failed[k].Waits = waitForm.MatchString(output())
		}
		failed[k].Lacks = mayLack(failed[k].Words) && lackForm.MatchString(output())
	}
}

// complaintForm finds a line in which git says why it did not do what it was told, in some languages, or a shell that
// there is no git, or no folder to call it in, or in which somebody may have ended it while it asked or waited.
var complaintForm = pattern.Of(`(?mi)(?:^|["\]>]|\\n)\s*(?:error|fatal|hint|git|usage|fehler|schwerwiegend|erreur|errore|erro|` +
	`ошибка|фатальная ошибка|错误|錯誤|致命错误|致命錯誤|エラー|오류|치명적 오류) ?[:：]|^CONFLICT \(|^Aborting|is not a git command|` +
	`\bgit: |: git$|'git' is not recognized|\bcd: |^(?:user name|username|password|passphrase|enter passphrase) for |` +
	`\btime(?:d[ -])?out\b|\bterminated\b|\bkilled\b`)

// begun is how many of the errands that failed are such of git, at their beginning, as fail only with a complaint of
// git's, which the output does not hold: they have done what they were told.
func begun(list []Errand, output func() string) (n int) {
	for n < len(list)-1 && !list[n].Unseen && isPlain(list[n].Words) {
		n++
	}
	if n > 0 && complaintForm.MatchString(output()) {
		return 0
	}
	return n
}

// isPlain reports whether a call of git fails only with a complaint: it starts nothing else that could fail.
func isPlain(words []string) bool {
	return len(words) > 2 && words[0] == "git" &&
		slices.Contains([]string{"checkout", "switch", "branch", "add", "fetch"}, words[1])
}

// FailedPart parts what a failed call did, as its output tells: what succeeded before, and what failed. Where that does
// not tell which of several commands failed, all may have.
func FailedPart(list []Errand, output func() string) (passed, failed []Errand) {
	isOfOther := func(t Errand) bool { return t.Row != list[0].Row }
	if len(list) < 2 || slices.ContainsFunc(list, isOfOther) {
		return nil, list
	}
	if n := begun(list, output); n > 0 {
		passed, failed = FailedPart(list[n:], output)
		return list[:n+len(passed)], failed
	}
	var found []int
	for _, s := range signs {
		var all []int // of its program
		for k := range list {
			if isOf(&list[k], s.program) {
				all = append(all, k)
			}
		}
		if len(all) > 0 && s.sign.MatchString(output()) {
			found = append(found, all...)
		}
	}
	if len(found) != 1 {
		return nil, list
	}
	at := found[0]
	if slices.ContainsFunc(list[:at], testsByName) {
		return nil, list
	}
	if !isOf(&list[at], "git push") && rerun.Operation(list[at].Words) == "" && slices.ContainsFunc(list[at+1:], mayTest) {
		return nil, list
	}
	return list[:at], list[at : at+1] // those behind it did not run
}

// testsByName reports whether an errand runs tests by its name, as scripts and targets do, and may so leave the sign of
// another program.
func testsByName(t Errand) bool {
	if len(t.Words) == 0 || t.Words[0] == "git" || !mayTest(t) {
		return false
	}
	return slices.ContainsFunc(t.Words, func(word string) bool {
		return strings.Contains(word, "test") || strings.Contains(word, "check") || strings.Contains(word, "verify") ||
			strings.Contains(word, "spec") || word == "tox" || word == "nox"
	})
}

// mayTest reports whether an errand may run tests that its words do not name, as a hook of a commit does, and scripts
// do. A hook of a push leaves a sign of the push.
func mayTest(t Errand) bool {
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

// isOf reports whether an errand is a call of the program.
func isOf(t *Errand, program string) bool {
	words, own := rerun.WithoutLaunchers(t.Words), strings.Fields(program)
	return len(words) >= len(own) && slices.Equal(words[:len(own)], own)
}
