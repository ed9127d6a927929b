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

// What only starts something on another machine, or tells others of the work, shows no tests.
func TestARunOfTestsIsReadBehindWhatOnlyStarts(t *testing.T) {
	const one = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 0.1s\nexit code: 1"
	const named = "tests/test_a.py::test_x PASSED\n4 passed in 0.1s\nexit code: 0"
	f := func(isOver bool, later string) {
		t.Helper()
		toldAsOver(t, isOver, []string{"pytest", one, later, named})
	}
	f(true, "docker compose up -d db && pytest tests/test_a.py -v")
	f(true, "docker-compose -f a.yml up --detach db && pytest tests/test_a.py -v")
	f(true, "sudo docker start db && pytest tests/test_a.py -v")
	f(true, "gh pr edit 3 --add-label x && pytest tests/test_a.py -v")
	f(false, "docker compose up tests")
	f(false, "docker compose up -d db && docker compose exec app pytest tests/test_a.py -v")
	f(false, "docker start -a tests && make")
	f(false, "gh run view 7 --log && make")
}

// A switch that a shell is given, or that stands in what is not understood, counts, too.
func TestASwitchInAnotherShellIsOne(t *testing.T) {
	const one = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 0.1s\nexit code: 1"
	const passed, done = "4 passed in 0.1s\nexit code: 0", "exit code: 0"
	f := func(isOver bool, between string) {
		t.Helper()
		toldAsOver(t, isOver, []string{"pytest", one, between, done, "pytest", passed})
	}
	f(false, "bash -c 'git checkout main'")
	f(false, "sudo sh -ec 'git stash'")
	f(false, "if true; then git -C . checkout main; fi")
	f(false, "if true; then git -c a.b=c --no-pager switch main; fi")
	f(false, "if true; then gh pr checkout 12; fi")
	f(true, "bash -c 'git status'")
	f(true, "bash -c 'git stash list'")
	f(true, "if true; then gh pr view 12; fi")
	const failed = "Error: quota\nexit code: 1"
	toldAsOver(t, false, []string{"helm upgrade shop .", failed, "if true; then kubectl config use-context till; fi", done,
		"helm upgrade shop .", done})
}

// What could not be done because nothing was set for it is done once that is set.
func TestWhatLackedItsTargetIsOverOnceThatIsSet(t *testing.T) {
	const done, quota = "exit code: 0", "Error: quota\nexit code: 1"
	f := func(isOver bool, steps ...string) {
		t.Helper()
		toldAsOver(t, isOver, steps)
	}
	const unreachable = "Error: Kubernetes cluster unreachable: Get \"http://localhost:8080/version\": dial tcp 127.0.0.1:8080: connect: connection refused\nexit code: 1"
	f(true, "helm upgrade shop .", unreachable, "aws eks update-kubeconfig --name shop", done, "helm upgrade shop .", done)
	f(false, "helm upgrade shop .", quota, "aws eks update-kubeconfig --name shop", done, "helm upgrade shop .", done)
	f(false, "helm upgrade shop .", unreachable, "aws eks update-kubeconfig --name shop && git checkout main", done, "helm upgrade shop .", done)
	f(true, "pulumi up -y", "error: no stack selected; please use `pulumi stack select`\nexit code: 255", "pulumi stack select dev", done, "pulumi up -y", done)
	const upstream = "fatal: The current branch topic has no upstream branch.\nexit code: 128"
	const rejected = " ! [rejected] main -> main (non-fast-forward)\nerror: failed to push some refs to 'x'\nexit code: 1"
	f(true, "git push", upstream, "git push -u origin topic", done)
	f(false, "git push", rejected, "git push -u origin topic", done)
}
