package checkout

import (
	"fmt"
	"strings"
	"testing"
)

// after are folders in which commands ran, one after the other, that were done: "folder: command".
func after(commands ...string) *Folders {
	f := &Folders{}
	for _, c := range commands {
		in, line, _ := strings.Cut(c, ": ")
		f.Change(strings.Fields(line), in, &Said{Succeeded: true})
	}
	return f
}

func TestWorkIsFollowedFromBranchToBranch(t *testing.T) {
	f := func(isSame bool, commands ...string) {
		t.Helper()
		if got := after(commands...).Of("/s"); IsPartOf("", got) != isSame {
			t.Errorf("%q: the same work %v, want %v: %q", commands, !isSame, isSame, got)
		}
	}
	f(true, "/s: git status", "/s: git add -A", "/s: git commit -m x", "/s: git pull", "/s: git log main", "/s: ls main")
	f(true, "/s: git checkout -b fix", "/s: git checkout -- .", "/s: git checkout main -- a.py", "/s: git checkout .", "/s: git restore a.py")
	f(true, "/s: git checkout app.tsx", "/s: git checkout ./src", "/s: git checkout -p main", "/s: git worktree list")
	f(true, "/s: git checkout main", "/s: git checkout -")
	f(false, "/s: git checkout main", "/s: git switch topic", "/s: git checkout main")
	f(false, "/s: git checkout release-1.x")
	f(false, "/s: git switch --detach v1.2")
	f(false, "/s: glab mr checkout 4")
	f(true, "/s: git stash", "/s: git stash", "/s: git stash pop", "/s: git stash pop")
	f(false, "/s: git stash push a.py")
	f(true, "/s: git stash apply")
	f(true, "/s: git stash", "/s: git checkout -b fix", "/s: git stash pop")
	f(true, "/s: git diff", "/s: git checkout .", "/s: git apply a.patch")
	f(false, "/s/api: git checkout main")
	f(false, "/: git checkout main")
	f(false, ": git checkout main")
	f(true, "/t: git checkout main")
	f(true, "/t: git checkout main", "/s: git status")
	f(true, "/s: git worktree add -b x /s/x", "/s/x: git checkout main")
	f(false, "/t: git -C /s checkout main")
	f(false, "/s: GIT_TRACE=1 git -c a.b=c checkout main")
	f(true, "/s: git bisect reset")
	f(true, "/s: git bisect log")
	f(true, "/s: git stash drop", "/s: git stash show")
}

// A branch that is left as another one goes on with its work is other work from then on.
func TestTheWorkOfABranchIsKnownAgain(t *testing.T) {
	f := &Folders{}
	do := func(command, output string) string {
		f.Change(strings.Fields(command), "/s", &Said{Output: func() string { return output }})
		return f.Of("/s")
	}
	do("git status", "On branch fix\n")
	main := do("git checkout main", "")
	if got := do("git checkout fix", ""); got != "" {
		t.Errorf("back on the branch there is %q", got)
	}
	if got := do("git checkout main", ""); got != main {
		t.Errorf("on main there is %q, not %q", got, main)
	}
	if got := do("git checkout -b two", ""); got != main {
		t.Errorf("a new branch begins with %q, not %q", got, main)
	}
	if got := do("git checkout main", ""); got == main {
		t.Error("the branch that was left has the work of the new one")
	}
	before := do("git stash", "")
	if got := do("git checkout -b two", "Switched to branch 'two'"); got == before {
		t.Error("a branch that was there already begins")
	}
}

func TestWhatGitDidNotDoChangesNothing(t *testing.T) {
	f := func(want bool, command string, said *Said, output string) {
		t.Helper()
		said.Output = func() string { return output }
		d := &Folders{}
		d.Change(strings.Fields(command), "/s", said)
		if got := d.Of("/s") != ""; got != want {
			t.Errorf("%q, %q: done %v, want %v", command, output, got, want)
		}
	}
	f(true, "git checkout main", &Said{}, "")
	f(false, "git checkout main", &Said{Failed: true}, "error: pathspec 'main' did not match any file(s) known to git")
	f(true, "git checkout main", &Said{Failed: true}, "error: could not compile `shop`")
	f(true, "git checkout main", &Said{Failed: true}, "Switched to branch 'main'\nfatal: no")
	f(false, "git checkout main", &Said{Failed: true, IsBehind: true}, "1 failed")
	f(true, "git checkout main", &Said{Failed: true, IsBehind: true}, "Switched to branch 'main'\n1 failed")
	f(true, "git checkout main", &Said{Succeeded: true}, "fatal: as a test says")
	f(false, "git checkout main", &Said{Succeeded: true, IsHidden: true}, "fatal: no")
	f(false, "git checkout src", &Said{Succeeded: true}, "Updated 2 paths from the index")
	f(false, "git stash", &Said{Succeeded: true}, "No local changes to save")
	f(true, "git stash", &Said{Succeeded: true}, "")
}

func TestTheBranchIsRead(t *testing.T) {
	f := func(want, command, output string) {
		t.Helper()
		if got := (&Said{Output: func() string { return output }}).branch(command); got != want {
			t.Errorf("%s, %q: %q, want %q", command, output, got, want)
		}
	}
	f("fix/a", "status", "On branch fix/a\n")
	f("fix", "status", "## fix...origin/fix [ahead 1]\n M a")
	f("main", "commit", "[main (root-commit) 1b2c3d4] x\n")
	f("", "commit", "[detached HEAD 1b2c3d4] x\n")
	f("fix", "branch", "  main\n* fix\n")
	f("fix", "branch", "fix\n")
	f("fix", "stash", "Saved working directory and index state WIP on fix: 1b2c3d4 x")
	f("fix", "checkout", "Already on 'fix'")
	f("", "log", "On branch fix\n")
	f("", "status", "")
}

// What a hostile agent runs takes no more room than what a careful one does.
func TestWhatIsKeptIsBounded(t *testing.T) {
	f := &Folders{}
	for k := range 10_000 {
		said := &Said{Output: func() string { return "Switched to a new branch" }}
		f.Change([]string{"git", "checkout", strings.Repeat("b", k%500) + fmt.Sprint(k)}, fmt.Sprintf("/s%d", k%100), said)
		f.Change([]string{"git", "stash"}, "/s0", &Said{})
	}
	if len(f.list) > mostFolders {
		t.Errorf("%d folders are kept", len(f.list))
	}
	for _, d := range f.list {
		if len(d.left) > mostBranches || len(d.aside) > mostAside || len(d.stand.work) > 20+mostAside {
			t.Errorf("of %s are kept %d branches, %d that were put aside, and %q", d.path, len(d.left), len(d.aside), d.stand.work)
		}
	}
}
