package rewrite

import "testing"

// A call that was kept from what it was to do, or that failed by itself, puts no other work and no other target there.
func TestWhatWasNotDoneMovesNothing(t *testing.T) {
	const one = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 0.1s\nexit code: 1"
	const passed, failed, done = "4 passed in 0.1s\nexit code: 0", "Error: quota\nexit code: 1", "exit code: 0"
	const refused = "exec command rejected by user"
	f := func(isOver bool, steps ...string) {
		t.Helper()
		toldAsOver(t, isOver, steps)
	}
	f(true, "pytest", one, "git stash", refused, "pytest", passed)
	f(true, "pytest", one, "for b in main; do git checkout $b; done", refused, "pytest", passed)
	f(true, "pytest", one, "git checkout -q nosuch", "Pfadspezifikation\nexit code: 1", "pytest", passed)
	f(false, "pytest", one, "git checkout -q main && make", "no rule\nexit code: 2", "pytest", passed)
	f(false, "pytest", one, "git checkout main", "Switched to branch 'main'\nhook: no\nexit code: 1", "pytest", passed)
	f(true, "helm upgrade shop .", failed, "kubectl config use-context till", refused, "helm upgrade shop .", done)
	f(true, "helm upgrade shop .", failed, "kubectl config use-context nosuch", "error: no context exists\nexit code: 1", "helm upgrade shop .", done)
	f(false, "helm upgrade shop .", failed, "kubectl config use-context till && make", failed, "helm upgrade shop .", done)
}
