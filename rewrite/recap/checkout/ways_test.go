package checkout

import (
	"strings"
	"testing"
	"time"
)

// gone are folders behind calls, each with what it puts out.
func gone(t *testing.T, steps ...string) *Folders {
	t.Helper()
	f := &Folders{}
	for k := 0; k < len(steps); k += 2 {
		in, command, isElsewhere := strings.Cut(steps[k], ": ")
		if !isElsewhere {
			in, command = "/shop", steps[k]
		}
		output := steps[k+1]
		command, isWritten := strings.CutSuffix(command, " > a")
		f.Change(strings.Fields(command), in,
			&Said{Output: func() string { return output }, Succeeded: true, IsWritten: isWritten})
	}
	return f
}

func TestWorkIsTheSameWhateverTheWayToIt(t *testing.T) {
	const saved = "Saved working directory and index state WIP on fix: 1b2c3d4 x"
	const noEntry, noPath = "No stash entries found.", "error: pathspec 'main' did not match any file(s) known to git\n"
	to := func(branch string) string { return "Switched to branch '" + branch + "'" }
	f := func(isSame bool, steps ...string) {
		t.Helper()
		if got := gone(t, steps...).Of("/shop"); (got == "") != isSame {
			t.Errorf("%q: %q", steps, got)
		}
	}
	f(false, "git stash", saved, "git stash", saved, "git stash apply", "", "git stash drop", "")
	f(true, "git stash", saved, "git stash", saved, "git stash apply", "", "git stash drop", "", "git stash pop", "")
	f(false, "git stash", saved, "git stash", saved, "git stash pop", "CONFLICT (content): a", "git stash drop", "")
	f(true, "git stash -q", "", "git stash pop", noEntry)
	f(true, "git stash -q", "", "git stash drop", noEntry)
	f(false, "git diff > a", "", "git checkout .", "Updated 1 path from the index")
	f(true, "git stash", saved, "git stash", saved, "git stash clear", "")
	f(true, "git diff > a", "", "git commit -am x", "[fix 1234567] x", "git checkout .", "Updated 1 path from the index")

	f(true, "/till: git -C ../other checkout main", to("main"))
	f(true, "/: git clone x", "", "/till: git checkout main", to("main"))
	if work := gone(t, ": git -C ../other checkout main", to("main")).Of(""); work != "" {
		t.Errorf("what lies beside a folder is in it: %q", work)
	}
	f(false, "/usr/bin/git checkout main", to("main"))
	f(false, "sudo git checkout main", to("main"))
	f(true, "git worktree add --help", "")

	f(true, "git checkout HEAD", "")
	f(true, "git checkout -q Makefile", "")
	f(true, "git status", "On branch fix", "git checkout main", noPath+to("master"), "git checkout master", noPath+to("master"),
		"git checkout -", to("fix"))
	f(true, "git status", "On branch fix", "git checkout main", to("master"), "git checkout master", to("master"),
		"git checkout -", to("fix"))
	f(true, "gh pr checkout 12", to("topic"), "git checkout -", to("fix"))

	const again = "git checkout topic"
	there := func(first string) string { return gone(t, first, to("topic")).Of("/shop") }
	for _, first := range []string{"gh pr checkout 12", "git checkout -t origin/topic"} {
		if got := gone(t, first, to("topic"), "git checkout main", to("main"), again, to("topic")).Of("/shop"); got != there(first) {
			t.Errorf("%s: %q", first, got)
		}
	}
}

// Whoever puts changes aside again and again is followed at the same pace.
func TestManyStashesCostLittle(t *testing.T) {
	f, begun := &Folders{}, time.Now()
	for range 200_000 {
		f.Change([]string{"git", "stash"}, "/shop", &Said{Succeeded: true})
	}
	if work := f.Of("/shop"); len(work) > 64 || time.Since(begun) > 10*time.Second {
		t.Errorf("%d bytes, %v", len(work), time.Since(begun))
	}
	if f.Of("/shop") == "" {
		t.Error("the changes lie there")
	}
}
