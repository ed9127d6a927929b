package rerun

import (
	"strings"
	"testing"
)

// What mends all that it finds has nothing left to say where it ends well.
func TestWhatMendsFilesDoesWhatWasToBeChecked(t *testing.T) {
	f := func(want bool, now, before string) {
		t.Helper()
		a, b := strings.Fields(now), strings.Fields(before)
		if got := Fixes(a, b); got != want || want && (Kind(a) == "" || Kind(a) != Kind(b)) {
			t.Errorf("%q mends what %q says: %v, kinds %q and %q", now, before, got, Kind(a), Kind(b))
		}
	}
	f(true, "npx eslint src --fix", "npx eslint src")
	f(true, "npx eslint --fix src", "eslint src")
	f(true, "black shop", "black --check shop")
	f(true, "python -m black shop", "black shop --check --diff")
	f(true, "prettier --write .", "prettier --check .")
	f(true, "cargo fmt", "cargo fmt --check")
	f(true, "cargo fmt --all", "cargo fmt --all -- --check")
	f(true, "terraform fmt -recursive", "terraform fmt -check -recursive")
	f(true, "npm run lint -- --fix", "npm run lint")
	f(false, "npx eslint src", "npx eslint src --fix")
	f(false, "npx eslint api --fix", "npx eslint src")
	f(false, "npx eslint src --fix --rule x:off", "npx eslint src")
	f(false, "prettier .", "prettier --check .")
	f(false, "black --check shop", "black shop")
	f(false, "A=1 black shop", "black --check shop")
	f(false, "ruff format", "ruff check")
}

func TestAPushThatIsForcedOrTheFirstPushesTheSame(t *testing.T) {
	f := func(want bool, now, before string) {
		t.Helper()
		a, b := strings.Fields(now), strings.Fields(before)
		if got := Pushes(a, b, true); got != want || want && Kind(a) != Kind(b) {
			t.Errorf("%q pushes what %q was to push: %v", now, before, got)
		}
	}
	f(true, "git push -u origin fix", "git push")
	if Pushes([]string{"git", "push", "-u", "origin", "fix"}, []string{"git", "push"}, false) {
		t.Error("what was refused on another branch is pushed")
	}
	f(true, "git push --set-upstream origin HEAD", "git push -q")
	f(true, "git push origin main --force-with-lease=main", "git push origin main")
	f(true, "git push -f", "git push")
	f(false, "git push origin fix", "git push")
	f(false, "git push -u origin", "git push origin fix")
	f(false, "git push origin :fix", "git push origin fix")
	f(false, "git push --delete origin fix", "git push origin fix")
	f(false, "git push --dry-run", "git push")
	f(false, "git push --no-verify", "git push")
	f(false, "git push --tags", "git push")
	f(false, "git push origin main", "git push origin fix")
}
