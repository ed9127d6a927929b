package rewrite

import (
	"strings"
	"testing"

	"epitome/prose"
)

// A run on the files of another branch, or without changes that are put aside, tells nothing of what failed with them.
func TestAFailureIsNoMoreOnlyOnTheWorkWhereItWas(t *testing.T) {
	const one = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 0.1s\nexit code: 1"
	const passed, named = "4 passed in 0.1s\nexit code: 0", "tests/test_a.py::test_x PASSED\n4 passed in 0.1s\nexit code: 0"
	const saved = "Saved working directory and index state WIP on fix: 1b2c3d4 x\nexit code: 0"
	const dropped = "On branch fix\nDropped refs/stash@{0} (aa11)\nexit code: 0"
	const quiet, onFix = "exit code: 0", "On branch fix\nexit code: 0"
	const refused = "error: Your local changes to the following files would be overwritten by checkout:\n\ta.py\nAborting\nexit code: 1"
	to := func(branch string) string { return "Switched to branch '" + branch + "'\nexit code: 0" }
	f := func(isOver bool, steps ...string) {
		t.Helper()
		toldAsOver(t, isOver, steps)
	}
	f(false, "pytest", one, "git stash", saved, "pytest", passed, "git stash pop", dropped)
	f(false, "pytest", one, "git stash -u -q", quiet, "pytest -v", named, "git stash pop -q", quiet)
	f(false, "pytest", one, "git stash", saved, "pytest", passed)
	f(true, "pytest", one, "git stash", saved, "pytest", passed, "git stash pop", dropped, "pytest", passed)
	f(true, "pytest", one, "git stash", saved, "git stash pop", dropped, "pytest -v tests", named)
	f(true, "pytest", one, "git stash", "No local changes to save\nexit code: 0", "pytest", passed)
	f(true, "pytest", one, "git stash", saved, "git stash drop", quiet, "pytest", passed)
	f(true, "pytest", one, "git stash list", quiet, "pytest", passed)
	f(false, "pytest", one, "make lint; git stash -q; make x", "no\nexit code: 2", "pytest", passed)
	f(true, "pytest", one, "make lint && git stash -q", "no\nexit code: 2", "pytest", passed)
	f(false, "pytest", one, "git stash && git checkout main", saved, "pytest", passed, "git checkout fix && git stash pop", to("fix"))
	f(true, "pytest", one, "git stash && git checkout main", saved, "git checkout fix && git stash pop", to("fix"), "pytest", passed)
	f(true, "pytest", one, "git stash; git checkout main; git checkout fix; git stash pop", quiet, "pytest", passed)
	f(false, "pytest", one, "git diff > /tmp/a.patch && git checkout .", quiet, "pytest", passed, "git apply /tmp/a.patch", quiet)
	f(true, "pytest", one, "git diff > /tmp/a.patch && git checkout .", quiet, "git apply /tmp/a.patch", quiet, "pytest", passed)

	f(false, "pytest", one, "git checkout main", to("main"), "pytest", passed, "git checkout -", to("fix"))
	f(false, "pytest", one, "git switch -q main", quiet, "pytest -v", named)
	f(false, "pytest", one, "git checkout 1b2c3d4", "HEAD is now at 1b2c3d4 x\nexit code: 0", "pytest", passed)
	f(false, "pytest", one, "gh pr checkout 12", to("topic"), "pytest", passed)
	f(false, "pytest", one, "git -C . checkout main && pytest", passed)
	f(true, "pytest", one, "git checkout main", to("main"), "git checkout -", to("fix"), "pytest", passed)
	f(true, "pytest", one, "git status", onFix, "git checkout main", to("main"), "git checkout fix", to("fix"), "pytest", passed)
	f(true, "pytest", one, "git checkout -b fix", "Switched to a new branch 'fix'\nexit code: 0", "pytest", passed)
	f(false, "pytest", one, "git switch -c fix origin/main", "Switched to a new branch 'fix'\nexit code: 0", "pytest", passed)
	f(false, "pytest", one, "git checkout -b fix", "Switched to a new branch 'fix'\nexit code: 0", "git checkout main", to("main"), "pytest", passed)
	f(true, "pytest", one, "git checkout -b fix 2>/dev/null || git checkout fix", "Switched to a new branch 'fix'\nexit code: 0", "pytest", passed)
	f(true, "pytest", one, "git checkout main", refused, "pytest", passed)
	f(true, "pytest", one, "git checkout src/a.py", "Updated 1 path from the index\nexit code: 0", "pytest", passed)
	f(true, "pytest", one, "git checkout main -- src", quiet, "pytest", passed)
	f(false, "pytest", one, "git bisect start", quiet, "git bisect good v1", quiet, "pytest", passed, "git bisect reset", quiet)
	f(true, "pytest", one, "git bisect start", quiet, "git bisect good v1", quiet, "git bisect reset", quiet, "pytest", passed)
	f(false, "pytest", one, "for b in main; do git checkout $b; done", to("main"), "pytest", passed)

	f(false, "cd /shop && pytest", one, "git worktree add /shop/.worktrees/main main && cd /shop/.worktrees/main && pytest", passed)
	f(true, "cd /shop && pytest", one, "cd /shop/.worktrees/x && git worktree add /shop/.worktrees/x main", quiet, "cd /shop && pytest", passed)
	f(true, "cd /shop && pytest", one, "cd /till && git checkout main", to("main"), "cd /shop && pytest", passed)
	f(false, "cd /shop && pytest", one, "cd /shop/api && git checkout main", to("main"), "cd /shop && pytest", passed)
	f(false, "cd /shop && pytest", one, "cd /till && pytest", passed)

	const rejected = "error: failed to push some refs to 'x'\nexit code: 1"
	f(true, "git push", rejected, "git stash", saved, "git push", quiet, "git stash pop", dropped)
	f(true, "git checkout main", refused, "git stash", saved, "git checkout main", to("main"))
	f(true, "kubectl rollout status deploy/x", "error: timed out\nexit code: 1", "git checkout main", quiet, "kubectl rollout status deploy/x", quiet)
}

// What fails before changes are there is over where the same succeeds with them, and takes nothing from what failed so.
func TestAFailureWithoutTheChangesIsOverWithThem(t *testing.T) {
	const one = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 0.1s\nexit code: 1"
	const saved = "Saved working directory and index state WIP on fix: 1b2c3d4 x\nexit code: 0"
	const dropped = "On branch fix\nDropped refs/stash@{0} (aa11)\nexit code: 0"
	text := told(t, "git stash", saved, "pytest", one, "git stash pop", dropped, "pytest", "4 passed in 0.1s\nexit code: 0")
	if rows := partOf(text, "open failures"); strings.Contains(rows, "pytest") {
		t.Errorf("open: %s", rows)
	}
	other := strings.ReplaceAll(one, "test_x", "test_y")
	text = told(t, "pytest", other, "git stash", saved, "pytest", one, "git stash pop", dropped)
	if rows := partOf(text, "open failures"); !strings.Contains(rows, "::test_y") {
		t.Errorf("what failed with the changes is not open: %s", text)
	}
}

// Conflicts of what was put aside are over where it was dropped.
func TestWhatWasPutAsideIsNoFailureOnceItWasDropped(t *testing.T) {
	const conflict, done = "CONFLICT (content): Merge conflict in a.py\nThe stash entry is kept in case you need it again.\nexit code: 1", "exit code: 0"
	toldAsOver(t, true, []string{"git stash pop", conflict, "git checkout --theirs a.py && git stash drop", done})
	toldAsOver(t, false, []string{"git stash pop", conflict, "git checkout --theirs a.py", done})
	toldAsOver(t, false, []string{"git stash pop", "No stash entries found.\nexit code: 1", "git stash drop", done})
}

// A tool that checks the work finds that of another branch, too; what others do does not depend on it.
func TestAToolChecksTheWorkThatIsThere(t *testing.T) {
	f := func(isOpen bool, tool, between string) {
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		a.does(tool, `{"name":"shop"}`, "Error: no\n")
		a.does("bash", `{"command":"`+between+`"}`, "exit code: 0")
		a.does(tool, `{"name":"shop"}`, "all is well")
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		if got := strings.Contains(partOf(text, "open failures"), tool); got != isOpen {
			t.Errorf("%s, %s: open %v: %s", tool, between, got, text)
		}
	}
	f(true, "mcp__ide__run_tests", "git stash")
	f(false, "mcp__ide__run_tests", "git status")
	f(false, "mcp__shop__send_order", "git stash")
}

// What is set for all calls of a program is what they work on.
func TestAFailureIsNoMoreOnlyOnItsTarget(t *testing.T) {
	const failed, done = "Error: quota\nexit code: 1", "exit code: 0"
	f := func(isOver bool, steps ...string) {
		t.Helper()
		toldAsOver(t, isOver, steps)
	}
	const status = "kubectl rollout status deploy/shop"
	f(false, "terraform apply", failed, "terraform workspace select staging", done, "terraform apply", done)
	f(false, status, failed, "kubectl config use-context staging && "+status, done)
	f(false, "helm upgrade shop .", failed, "kubens staging", done, "helm upgrade shop .", done)
	f(true, "terraform apply", failed, "terraform workspace show", done, "terraform apply", done)
	f(true, "make shop", failed, "kubectl config use-context staging", done, "make shop", done)
	f(true, status, failed, "terraform workspace select staging", done, status, done)
}

func TestWhatSucceededOnOtherWorkIsTold(t *testing.T) {
	text := told(t, "make shop", "no rule\nexit code: 2", "git checkout main", "Switched to branch 'main'\nexit code: 0", "make shop", "exit code: 0")
	const note = "exec_command `make shop`, message 3: failed with exit code 2; in message 7 it succeeded, behind a command that may have put other work or another target there\n> no rule"
	if rows := partOf(text, "open failures"); rows != note {
		t.Errorf("told %q, want %q", rows, note)
	}
}
