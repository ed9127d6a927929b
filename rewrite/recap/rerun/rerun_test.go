package rerun

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What a run has left out tells nothing of it.
func TestARunOfLessIsNotWider(t *testing.T) {
	f := func(now, before string, want bool) {
		t.Helper()
		if got := IsWider(strings.Fields(now), strings.Fields(before)); got != want {
			t.Errorf("%q does at least what %q did: %v", now, before, got)
		}
	}
	f("pytest", "pytest -q tests/a.py", true)
	f("pytest tests", "python -m pytest tests/a.py", true)
	f("pytest tests/a.py", "pytest", false)
	f("cargo test shop", "cargo test", false)
	f("pytest tests/b.py", "pytest tests/a.py", false)
	f("go test ./a", "go test -race ./a", false)
	f("cargo clippy", "cargo clippy -- -D warnings", false)
	f("cargo test", "cargo test --features sql", false)
	f("jest", "jest --bail --verbose", true)
	f("pytest tests", "pytest -x --lf tests", true)
	f("CI=1 vitest", "CI=1 vitest src/a.test.ts", true)
	f("vitest", "CI=1 vitest src/a.test.ts", false)
	f("CGO_ENABLED=0 go test ./...", "CGO_ENABLED=0 go test ./a", true)
	f("go test ./...", "CGO_ENABLED=0 go test ./a", false)
}

func TestACallOfManyWordsIsHeldAgainstItsEquals(t *testing.T) {
	many := "go test" + strings.Repeat(" ./a", mostWords-2)
	f := func(now, before string, want bool) {
		t.Helper()
		a, b := strings.Fields(now), strings.Fields(before)
		if IsWider(a, b) != want || LeavesOutNothingOf(a, b) != want || now != before && Covers(a, b) != want {
			t.Errorf("%d words are held against %d: %v, want %v", len(a), len(b), !want, want)
		}
	}
	f(many, "go test ./a", true)
	f(many+" ./b", "go test ./a", false)
	f("go test ./...", many+" ./b", false)
	f(many+" ./b", many+" ./b", true)
}

func TestTestsPassWhereARunSaysSo(t *testing.T) {
	const before = "--- FAIL: TestA (0.0s)\nFAIL\ta\t0.1s\n"
	f := func(now string, want bool) {
		t.Helper()
		if got := Read(now).Passes(Read(before)); got != want {
			t.Errorf("%q: passes %v, want %v", now, got, want)
		}
	}
	f("ok  \ta\t0.1s", true)
	f("ok  \ta\t(cached)\r\n", true)
	f("--- FAIL: TestB (0.0s)\nFAIL\ta\t0.1s\n", true)
	f("    --- FAIL: TestA (0.0s)\nFAIL\ta\t0.1s\n", false)
	f("panic: no\nFAIL\ta\t0.1s\n", false)
	f("FAIL\ta [build failed]", false)
	f("ok  \ta\t0.1s [no tests to run]", false)
	f("ok  \tb\t0.1s", false)
	f("", false)
	both := "FAIL\tb\t0.1s\n" + before
	if Read("ok  \ta\t0.1s\nFAIL\tb\t0.1s\n").Passes(Read(both)) {
		t.Error("a package of which no test is named failed again")
	}
	if Read("ok  \ta\t0.1s").Passes(Read("exit status 1")) {
		t.Error("where no package is said to fail, none is known to pass now")
	}
}

// A line costs no more than its bytes, whatever stands in it.
func TestALineOfManyFieldsIsReadInItsOwnRoom(t *testing.T) {
	text := "ok  \ta" + strings.Repeat("\t", 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run := Read(text)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(len(text)) || !run.ok["a"] {
		t.Errorf("%d bytes are read in %d: %v", len(text), n, run.ok)
	}
}

func TestHowACallIsShownIsNoPartOfWhatItDoes(t *testing.T) {
	f := func(same bool, a, b string) {
		t.Helper()
		if got := slices.Equal(Essential(strings.Fields(a)), Essential(strings.Fields(b))); got != same {
			t.Errorf("%q and %q do the same: %v", a, b, got)
		}
	}
	f(true, "kubectl rollout status deployment/refund --timeout=120s", "kubectl rollout status deployment/refund")
	f(true, "kubectl --timeout 5s rollout status deployment/refund", "kubectl rollout status deployment/refund")
	f(true, "terraform apply -no-color -auto-approve", "terraform apply")
	f(true, "ansible-playbook site.yml --diff -vv", "ansible-playbook site.yml")
	f(false, "ansible-playbook site.yml --limit web-6", "ansible-playbook site.yml")
	f(false, "terraform apply -target=a", "terraform apply")
	f(false, "kubectl rollout status deployment/cart", "kubectl rollout status deployment/refund")
	f(false, "make -v", "make")
	f(false, "kubectl exec refund-1 -- ./migrate --timeout 60", "kubectl exec refund-1 -- ./migrate --timeout 5")
	f(false, "kubectl exec refund-1 -- ./build --watch", "kubectl exec refund-1 -- ./build")
	f(false, "docker run shop/refund build --progress=plain", "docker run shop/refund build")
	f(false, "kubectl run a --image=shop/refund -- --timeout=60s", "kubectl run a --image=shop/refund -- --timeout=5s")
}

func TestWhatRunsAnywhereIsGivenNoFile(t *testing.T) {
	for call, want := range map[string]bool{
		"kubectl rollout status deployment/refund": true, "kubectl apply -f a.yaml": false, "kubectl apply -fa.yaml": false,
		"kubectl apply --filename=a.yaml": false, "kubectl create secret generic x --from-file=a": false,
		"kubectl cp ./a refund-1:/a": false, "kubectl apply -k .": false, "systemctl restart nginx": true, "ssh db-1 reboot": true,
		"ssh -F conf db-1 reboot": false, "make": false, "go test ./...": false, "helm upgrade refund charts/refund": false,
		"kubectl apply -Rf manifests": false, "kubectl kustomize overlays/prod": false, "ssh -ikey db-1 reboot": false,
		"kubectl create secret tls shop --cert=tls.crt --key=tls.key": false, "systemctl enable units/refund.service": false,
		"systemctl link units/refund.service": false, "kubectl get pods -o go-template-file --template=pods.tpl": false,
		"kubectl cluster-info dump --output-directory=pods": false, "kubectl patch deploy refund -p $PATCH": false,
		"ssh -oIdentityFile=key db-1 reboot": false, "kubectl --certificate-authority=ca.crt get pods": false,
		"ssh -o ConnectTimeout=5 db-1 reboot": true, "kubectl -n shop delete pod refund-1": true, "dig refund.example": true,
		"kubectl -n shop exec refund-1 -- migrate": true,
	} {
		if got := RunsAnywhere(strings.Fields(call)); got != want {
			t.Errorf("%q runs anywhere: %v", call, got)
		}
	}
	for setting, want := range map[string]bool{
		"export PATH=/opt/bin": true, "set -e": true, "export KUBECONFIG=conf/shop": false, "source env.sh": false, ". ./env": false,
	} {
		if got := RunsAnywhere([]string{"kubectl", "get", "pods"}, nil, []string{setting}); got != want {
			t.Errorf("behind %q it runs anywhere: %v", setting, got)
		}
	}
}

// What git began and conflicts have stopped ends where it goes on to its end, or is taken back.
func TestAnOperationOfGitIsConcluded(t *testing.T) {
	f := func(now, before string, want bool) {
		t.Helper()
		if got := Concludes(strings.Fields(now), strings.Fields(before)); got != want {
			t.Errorf("%q concludes %q: %v", now, before, got)
		}
	}
	f("git rebase --continue", "git rebase main", true)
	f("git rebase --abort", "git rebase --continue", true)
	f("git cherry-pick --skip", "git cherry-pick 1cbd9e3", true)
	f("git revert --continue", "git revert --no-edit 627f613", true)
	f("git commit -am x", "git merge topic", true)
	f("git commit -am x", "git rebase main", false)
	f("git stash drop", "git stash pop", true)
	f("git stash pop", "git stash pop", false)
	f("git stash drop", "git merge topic", false)
	f("git commit -am x", "git stash pop", false)
	f("git rebase --continue", "git merge topic", false)
	f("git rebase main", "git rebase topic", false)
	f("git commit -am x", "git commit -am x", false)
}

// A hook may be what refused a commit.
func TestACommitWithoutHooksIsNoneWithThem(t *testing.T) {
	f := func(want bool, now, before string) {
		t.Helper()
		if got := Commits(strings.Fields(now), strings.Fields(before)); got != want {
			t.Errorf("%q commits what %q was to commit: %v", now, before, got)
		}
	}
	f(true, "git commit -m now", "git commit -m x")
	f(true, "git commit -mn", "git commit -m x")
	f(false, "git commit --no-verify -m x", "git commit -m x")
	f(false, "git commit -nm x", "git commit -m x")
	f(true, "git commit -nm x", "git commit --no-verify -m x")
}

func TestVariablesOfManyWordsAreHeldAgainstTheirEquals(t *testing.T) {
	f := func(now, before string, want bool) {
		t.Helper()
		if got := SetsAll(strings.Fields(now), strings.Fields(before)); got != want {
			t.Errorf("%.30q sets all of %.30q: %v", now, before, got)
		}
	}
	many := strings.Repeat("A=1 ", mostWords+1)
	f("A=1 B=2 make", "B=2 make", true)
	f("B=2 make", "A=1 B=2 make", false)
	f(many+"make", many+"make", true)
	f("B=2 "+many+"make", many+"make", false)
}

// A run that shows more, or goes on where it would stop, succeeds where the other does.
func TestOptionsThatOnlyShowAreNoOther(t *testing.T) {
	f := func(words, want string) {
		t.Helper()
		if got := strings.Join(Bare(strings.Fields(words)), " "); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
	f("make -k -C fw", "make -C fw")
	f("cargo test -q -p store", "cargo test -p store")
	f("cargo test -- -q", "cargo test -- -q")
	f("ctest --test-dir b --output-on-failure", "ctest --test-dir b")
	f("grep -q x y", "grep -q x y")
	f("make -n all", "make -n all")
	f("make -j4 all", "make all")
	f("make -j 4 all", "make all")
	f("make -j all", "make all")
	f("make -jx all", "make -jx all")
	f("./gradlew test --rerun-tasks", "./gradlew test")
}
