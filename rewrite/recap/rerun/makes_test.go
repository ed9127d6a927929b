package rerun

import (
	"strings"
	"testing"
)

// How a thing is described is no other thing; what is in it, and where it is, are.
func TestWhatWasToBeMadeIsThereBySameName(t *testing.T) {
	f := func(want bool, now, before string) {
		t.Helper()
		if got := Makes(strings.Fields(now), strings.Fields(before)); got != want {
			t.Errorf("%q makes what %q was to make: %v", now, before, got)
		}
	}
	f(true, "gh release create v1 --title v1 --notes-file n.md", "gh release create v1 --notes x")
	f(true, "gh release create --generate-notes v1 a.zip b.zip", "gh release create v1 a.zip --notes=x")
	f(false, "gh release create v2 --notes x", "gh release create v1 --notes x")
	f(false, "gh release create v1", "gh release create v1 a.zip")
	f(false, "gh release create v1 --draft", "gh release create v1")
	f(false, "gh release create v1", "gh release create v1 --target main")
	f(false, "gh release create v1 -R a/b", "gh release create v1")
	f(true, "gh release create v1 -R a/b --notes x", "gh release create v1 -R a/b")
	f(false, "gh release create --notes v1", "gh release create --notes v1 --title v1")
	f(false, "gh release view v1", "gh release create v1")
	f(true, "gh pr create --title x --body y", "gh pr create --fill")
	f(true, "gh pr create -t x -F b.md --base main", "gh pr create -t x -b y --base main")
	f(false, "gh pr create --fill", "gh pr create --fill --label bug")
	f(false, "gh pr create --fill --dry-run", "gh pr create --fill")
	f(false, "gh pr create --web", "gh pr create --fill")
	f(false, "gh pr create -w", "gh pr create --fill")
	f(false, "gh pr create --fill --head a", "gh pr create --fill --head b")
	f(true, "gh issue create -t x -b y", "gh issue create -t x")
	f(false, "gh issue create -t z", "gh issue create -t x")
	f(true, "git tag -a v1 -m x", "git tag -a v1")
	f(false, "git tag -d v1", "git tag v1")
	f(false, "git tag v2", "git tag v1")
	f(false, "git tag v1 aa11bb2", "git tag v1")
	f(false, "git tag v1", "git tag -s v1")
	f(false, "git tag", "git tag")
	f(false, "make v1", "make v1")
}
