package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/prose"
)

// commitOf is a commit with a message, as agents write it.
func commitOf(words string) string {
	return "git add shop/init.py && git commit -m \"$(cat <<'EOF'\n" + words + "\n\nIt's ($1) as agreed.\nEOF\n)\""
}

// What a commit has kept is told as taken back only if the commit was.
func TestWhatACommitKeepsGoesWithTheCommitAlone(t *testing.T) {
	f := func(isBack bool, commands ...string) {
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		a.does("edit", `{"path":"shop/init.py","old":"import logging","new":"decimal.getcontext().rounding = ROUND_HALF_EVEN"}`, "edited")
		for _, c := range commands {
			a.says("", c, "[rounding 6a1b2c3] shop: round to even\n 1 file changed")
		}
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		files := partOf(text, "files")
		if strings.Contains(files, "taken back") != isBack || strings.Contains(files, "getcontext") == isBack {
			t.Errorf("%q: %s", commands, files)
		}
	}
	const stash = "git stash && git checkout main"
	long, other := commitOf("shop: round to even"), "git commit -qam other"
	f(false, long, stash)
	f(false, long, "git reset --hard")
	f(true, long, "git reset --hard HEAD~1 && git log --oneline -2")
	f(true, long, "git reset --hard HEAD^")
	f(true, long, other, "git reset -q --hard HEAD~2")
	f(true, long, other, "git reset --hard HEAD^", "git reset --hard HEAD~")
	f(false, long, other, "git reset --hard HEAD~1")
	f(false, long, "git reset --soft HEAD~1")
	f(false, long, "git reset --hard origin/main")
	f(false, long, "git checkout -b till main", other, "git reset --hard HEAD~2")
	f(false, long, "git switch main", "git reset --hard HEAD~1")
	f(false, long, "git checkout main", "git reset --hard HEAD~1")
	f(false, long, "git pull", "git reset --hard HEAD~1")
	f(true, long, "git commit --amend --no-edit", "git reset --hard HEAD~1")
	f(true, long, "git reset --hard HEAD~1", other)
	f(false, long, "git reset --hard HEAD~1", "git reset --hard ORIG_HEAD")
	f(false, long, "git reset --hard HEAD~1", "git cherry-pick 6a1b2c3")
}

// A failure is told as open only until what it was about was done: what its words differ in may not matter.
func TestFailuresEndWithWhatTheyWereAbout(t *testing.T) {
	f := func(name string, open bool, steps ...string) {
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		for k := 0; k < len(steps); k += 2 {
			a.does("bash", fmt.Sprintf(`{"command":%q}`, steps[k]), steps[k+1])
		}
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		first, _, _ := strings.Cut(steps[0], "\n")
		if got := strings.Contains(partOf(text, "open failures"), "bash `"+first); got != open {
			t.Errorf("%s: told as open: %v, want %v: %s", name, got, open, text)
		}
	}
	const bad, good = "shop/init.py:3: line too long\nexit code: 1", "fine\nexit code: 0"
	f("a commit that a check refused", true, commitOf("shop: round"), bad)
	f("of another message", false, commitOf("shop: round"), bad, commitOf("shop: round to even"), good)
	f("of a short message", false, commitOf("shop: round"), bad, "git add -A && git commit -qm rounding", good)
	f("elsewhere", true, commitOf("shop: round"), bad, "cd /srv/till && git commit -qm rounding", good)
	f("of other files", true, commitOf("shop: round"), bad, "git commit -qm rounding docs/init.md", good)
	f("of a part", true, commitOf("shop: round"), bad, "git commit -pm rounding", good)
	f("with an author", false, commitOf("shop: round"), bad, "git commit --author ada -am rounding", good)
	f("as a rehearsal", true, commitOf("shop: round"), bad, "git commit --dry-run -m rounding", good)

	const stopped, done = "CONFLICT (content): Merge conflict in init.py\nerror: could not apply 1cbd9e3... a\nexit code: 1", "exit code: 0"
	f("a rebase that is stopped", true, "git rebase main", stopped, "GIT_EDITOR=true git status", done)
	f("goes on without an editor", false, "git rebase main", stopped, "git add -A && GIT_EDITOR=true git rebase --continue", done)
	f("goes on with another one", false, "git rebase main", stopped, "git -c core.editor=true rebase --continue", done)
	f("was stopped again, and goes on", false, "GIT_EDITOR=: git rebase main", stopped, "git rebase --continue", stopped,
		"GIT_EDITOR=true git rebase --continue", done)
	const noEditor = "error: There was a problem with the editor 'editor'.\nerror: could not commit staged changes.\nexit code: 1"
	f("had no editor", false, "git add shop/init.py && git rebase --continue", noEditor, "GIT_EDITOR=true git rebase --continue", done)
	f("had none, twice", false, "git add a && GIT_EDITOR=vi git rebase --continue", noEditor, "git -c core.editor=true rebase --continue", done)
	f("of another repository", true, "git rebase main", stopped, "GIT_DIR=../till/.git git rebase --continue", done)
	f("in another tree", true, "git rebase main", stopped, "git -C ../till rebase --continue", done)

	log := strings.Repeat("till\tTest\t2026-01-02T10:00:00.1Z ok  \tshop/till\n", 40) +
		"till\tTest\t2026-01-02T10:00:00.1Z ##[error]Process completed with exit code 1.\n"
	f("what failed elsewhere", false, "gh run view 7 --log-failed 2>&1 | tail -90", log)
	f("what went on elsewhere", false, "docker logs till", log)
	f("what is not there", true, "docker logs till", "Error response from daemon: No such container: till\nexit code: 1")
	f("what is not there, by its words", true, "gh run view 7", "fatal: not a git repository (or any of the parent directories): .git")
	f("a run of one's own", true, "make test", log)

	const issues, none = "init.go:3:2: var x is unused (unused)\n1 issues:\n* unused: 1\n[lint] ERROR task failed", "[lint] $ golangci-lint run ./...\n0 issues."
	f("all of it is shown", false, "mise run lint 2>&1 | head -30", issues, "mise run lint 2>&1 | head -10", none)
	f("as many lines as by default", false, "mise run lint 2>&1 | head -30", issues, "mise run lint 2>&1 | head", none)
	f("its beginning alone", true, "mise run lint 2>&1 | head -30", issues, "mise run lint 2>&1 | head -n 2", none)
	f("bytes of it", true, "mise run lint 2>&1 | head -30", issues, "mise run lint 2>&1 | head -c 90", none)
	f("some lines of it", true, "mise run lint 2>&1 | head -30", issues, "mise run lint 2>&1 | grep -v x | head -30", none)

	const zsh = "(eval):cd:1: no such file or directory: services/till\nexit code: 1"
	f("no such folder", true, "cd services/till && make shop", zsh)
	f("it stood there already", false, "cd services/till && make shop", zsh, "cd services/till && ls", good, "make shop", good)
	f("the whole way", false, "cd services/till && make shop", zsh, "cd /srv/services/till && make shop", good)
	f("another folder", true, "cd services/till && make shop", zsh, "cd /srv/services/shop && make shop", good)
	f("another target", true, "cd services/till && make shop", zsh, "cd /srv/services/till && make till", good)
	f("it ran there, and failed", true, "cd services/till && make shop", bad, "cd /srv/services/till && make shop", good)
	for _, said := range []string{"bash: line 1: cd: till: No such file or directory\nexit code: 1",
		"sh: 1: cd: can't cd to till\nexit code: 2", "cd: The directory 'till' does not exist\nexit code: 1",
		"/bin/bash: line 0: cd: till: Not a directory\nexit code: 1"} {
		f(said, false, "cd till && make shop", said, "cd /srv/till && make shop", good)
		f("the shell stays", false, "make shop", bad, "cd till && make shop", said, "make shop", good)
	}
	f("the shell stays", false, "make shop", bad, "cd till && ls", "bash: line 1: cd: till: No such file or directory\nexit code: 1",
		"make shop", good)
}

// What gh made is told by its address: all that follows is about that.
func TestWhatAForgeMadeIsToldByItsAddress(t *testing.T) {
	f := func(command, output, want string) {
		t.Helper()
		text := told(t, command, output)
		if all := partOf(text, "open failures") + "\n" + partOf(text, "commands") + "\n"; !strings.Contains(all, want) {
			t.Errorf("%q is not told of %q: %s", want, command, all)
		}
	}
	const create = "gh pr create --draft --title \"refund: by line\" --fill"
	const address = "https://git.example/shop/refund/"
	f(create, address+"pull/7", "gh pr create --draft --title \"refund: by line\" --fill\n> "+address+"pull/7\n")
	f(create, "Creating pull request for refund into main in shop/refund\n\n"+address+"pull/7", "\n> "+address+"pull/7\n")
	f("gh issue create --title x --body y", address+"issues/12", "\n> "+address+"issues/12\n")
	f("gh pr comment 7 --body done", address+"pull/7#issuecomment-41", "\n> "+address+"pull/7#issuecomment-41\n")
	f("gh release create v1.2 a.tgz", address+"releases/tag/v1.2", "\n> "+address+"releases/tag/v1.2\n")
	f("glab mr create --fill", "!12 refund: by line (refund)\n "+address+"-/merge_requests/12", "\n>  "+address+"-/merge_requests/12\n")
	f(create, "a pull request for branch \"refund\" into branch \"main\" already exists:\n"+address+"pull/7",
		"its output says that it failed\n> a pull request for branch \"refund\" into branch \"main\" already exists:\n")
}
