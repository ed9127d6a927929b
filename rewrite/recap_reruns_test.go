package rewrite

import (
	"strings"
	"testing"
)

// What a later run of less, or one that failed otherwise, does not show keeps its lines.
func TestLinesOfAFailureStayUntilARunOfAllSucceeds(t *testing.T) {
	const one = "FAIL src/a.test.js\nTests:       1 failed, 3 passed, 4 total\nexit code: 1"
	f := func(want bool, later, result string) {
		t.Helper()
		text := partOf(told(t, "jest --verbose", one, later, result), "open failures") + "\n"
		if !strings.Contains(text, "exec_command `jest --verbose`") || strings.Contains(text, "> FAIL src/a.test.js\n") != want {
			t.Errorf("%s: the line is to stand: %v: %s", later, want, text)
		}
	}
	f(true, "jest src/a.test.js", "Tests:       4 passed, 4 total\nexit code: 0")
	f(true, "jest", "FAIL src/b.test.js\nTests:       1 failed, 3 passed, 4 total\nexit code: 1")
	f(false, "jest", "Tests:       4 passed, 4 total\nexit code: 0")
}

// toldAsOver holds whether the first of these calls, each with its result, is told as one that failed and has passed
// since, or as open.
func toldAsOver(t *testing.T, isOver bool, steps []string) {
	t.Helper()
	text := told(t, steps...)
	isOpen := strings.Contains(partOf(text, "open failures"), "exec_command `"+steps[0]+"`")
	hasPassed := strings.Contains(text, "has succeeded since:\n"+steps[0]+"\n") ||
		strings.Contains(text, "failed before, and succeeded since:\n"+steps[0]+"\n")
	if isOpen == isOver || hasPassed != isOver {
		t.Errorf("%q: over %v, open %v, told as passed %v: %s", steps, isOver, isOpen, hasPassed, text)
	}
}

// A failure of pytest is over when all the tests that failed have passed since, in whatever runs.
func TestAFailureOfPytestIsOverWhenItsTestsHavePassed(t *testing.T) {
	const one = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 0.1s\nexit code: 1"
	const two = "FAILED tests/test_a.py::test_x - no\nFAILED tests/b/test_b.py::test_y[1]\n== 2 failed, 3 passed in 0.1s ==\nexit code: 1"
	const unnamed, passed = "1 failed in 0.1s\nexit code: 1", "4 passed in 0.1s\nexit code: 0"
	f := func(isOver bool, steps ...string) {
		t.Helper()
		toldAsOver(t, isOver, steps)
	}
	f(true, "pytest -v tests/a", unnamed, "pytest -q tests/a 2>&1 | tail -3", "4 passed in 0.1s")
	f(true, "DB=1 pytest -v tests/a", unnamed, "DB=1 python -m pytest -q -x ./tests/a --tb short", passed)
	f(true, "pytest -q tests/a/test_b.py", unnamed, "pytest tests/a", passed)
	f(true, "pytest -k slow tests/a", unnamed, "pytest tests/a", passed)
	f(true, "pytest", one, "pytest tests/test_a.py", passed)
	f(true, "pytest", one, "pytest -v", "tests/test_a.py::test_x PASSED [ 50%]\nFAILED tests/test_c.py::test_z - no\n1 failed, 3 passed in 0.1s\nexit code: 1")
	f(true, "pytest", one, "pytest -n 2 -v", "[gw0] [ 50%] PASSED tests/test_a.py::test_x\nFAILED tests/test_c.py::test_z - no\n1 failed, 3 passed in 0.1s\nexit code: 1")
	f(true, "pytest", two, "pytest tests/test_a.py", passed, "pytest tests/b", passed)
	f(true, "pytest", one, "DB=1 pytest tests", passed)
	f(true, "pytest", "ERROR tests/test_a.py - no module\n1 error in 0.1s\nexit code: 2", "pytest tests", passed)

	f(false, "pytest -v tests/a", unnamed, "pytest -q tests/b", passed)
	f(false, "pytest -v tests/a", unnamed, "pytest -q tests/a/test_b.py", passed)
	f(false, "pytest tests/a/slow.py", unnamed, "pytest tests/a", passed)
	f(false, "pytest tests/a", unnamed, "pytest -k fast tests/a", passed)
	f(false, "pytest tests/a", unnamed, "pytest --lf tests/a", passed)
	f(false, "pytest tests/a", unnamed, "pytest", passed)
	f(false, "pytest --cov=shop tests/a", unnamed, "pytest tests/a", passed)
	f(false, "DB=1 pytest tests/a", unnamed, "pytest tests/a", passed)
	f(false, "DB=1 pytest", one, "pytest tests", passed)
	f(false, "pytest", one, "pytest --collect-only tests", "4 tests collected in 0.1s\nexit code: 0")
	f(false, "pytest --runslow", one, "pytest tests", passed)
	f(false, "pytest", one, "PYTEST_ADDOPTS=--co pytest tests", passed)
	f(false, "pytest --cov shop", unnamed, "pytest --cov shop tests/test_z.py", passed)
	f(false, "pytest build/test_a.py", unnamed, "pytest .", passed)
	f(false, "pytest", two, "pytest tests/test_a.py", passed)
	f(false, "pytest", strings.Replace(one, "1 failed", "2 failed", 1), "pytest tests/test_a.py", passed)
	f(false, "make -k check", "app.py:3: error: no\nFound 1 error in 1 file\n"+one, "pytest -v", "tests/test_a.py::test_x PASSED\n"+passed)
	f(false, "pytest", one, "cd /other && pytest tests", passed)
	const named = "tests/test_a.py::test_x PASSED\n" + passed
	f(false, "pytest", one, "git stash && pytest -v; git stash pop", named)
	f(false, "pytest", one, "git stash -u && pytest && git stash pop", named)
	f(false, "pytest", one, "git stash && pytest -v; git stash pop; make lint", named)
	f(true, "pytest", one, "git stash pop && pytest -v tests", named)
	f(true, "pytest", one, "git stash && git stash pop && pytest", named)
	f(false, "pytest", one, "pytest tests/test_a.py", "no tests ran in 0.1s\nexit code: 5")
	f(false, "pytest", one, "pytest tests/test_a.py -v", "tests/test_a.py::test_x FAILED\nFAILED tests/test_a.py::test_x - no\n1 failed in 0.1s\nexit code: 1")
}

// What passes on another machine tells nothing of this one.
func TestAFailureIsOverOnlyOnItsMachine(t *testing.T) {
	const one = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 0.1s\nexit code: 1"
	const named = "tests/test_a.py::test_x PASSED\n4 passed in 0.1s\nexit code: 0"
	const there = "docker compose run --rm app pytest"
	f := func(isOver bool, steps ...string) {
		t.Helper()
		toldAsOver(t, isOver, steps)
	}
	f(false, "pytest", one, there+" -v", named)
	f(false, "pytest", one, "docker exec -it shop pytest -v", named)
	f(false, "pytest", one, "kubectl exec deploy/shop -- pytest -v", named)
	f(false, "pytest", one, "sudo -E podman run --rm -v .:/app shop pytest -v", named)
	f(false, "pytest", one, "ssh ci 'cd shop && pytest -v'", named)
	f(false, "pytest", one, "bash -c 'docker compose run app pytest -v'", named)
	f(false, "pytest", one, "make lint; docker compose run app pytest -v", named)
	f(false, "pytest", one, "gh run watch 12", named)
	f(false, "pytest", one, "curl -s https://ci.test/12/log", named)
	f(false, there, one, "pytest -v", named)
	f(false, there, one, "docker compose exec app pytest -v", named)
	f(false, there, one, "docker compose run --rm till pytest -v", named)
	f(false, there, one, "docker compose run -e DB=1 app pytest -v", named)
	f(true, there, one, there+" -v", named)
	f(true, there+" -q", one, "docker compose run app pytest", "4 passed in 0.1s\nexit code: 0")
	f(true, there, one, "docker compose run -T app pytest -v tests", named)
	f(true, "kubectl exec shop -- pytest -v", one, "kubectl exec -it shop -- pytest -v", named)
	f(true, "pytest", one, "make check", named)
}

// Files of tests and tests that a run names are over when later runs name them as passed.
func TestAFailureOfTestsIsOverWhenEachIsNamedAsPassed(t *testing.T) {
	const jest = "PASS src/a.test.js\nFAIL src/b.test.js\nTest Suites: 1 failed, 1 passed, 2 total\nexit code: 1"
	const lib = "     Running unittests src/lib.rs (target/debug/deps/shop-01)\n"
	const cargo = lib + "test adds ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 0 ignored\nexit code: 101"
	f := func(isOver bool, steps ...string) {
		t.Helper()
		toldAsOver(t, isOver, steps)
	}
	f(true, "npm test", jest, "npx jest src/b.test.js", "PASS src/b.test.js\nTest Suites: 1 passed, 1 total\nexit code: 0")
	f(true, "npm test", jest, "CI=1 npm test", "FAIL src/c.test.js\nPASS src/b.test.js (5.1 s)\nTest Suites: 1 failed, 1 passed, 2 total\nexit code: 1")
	f(true, "cargo test", cargo, "cargo test -p shop adds", lib+"test adds ... ok\ntest result: ok. 1 passed; 0 failed\nexit code: 0")
	f(false, "npm test", jest, "npx jest src/a.test.js", "PASS src/a.test.js\nTest Suites: 1 passed, 1 total\nexit code: 0")
	f(false, "npm test", jest, "npx jest -t adds src/b.test.js", "PASS src/b.test.js\nTest Suites: 1 passed, 1 total\nTests:       2 skipped, 1 passed, 3 total\nexit code: 0")
	f(false, "cargo test", cargo, "cargo test --bin shop", strings.ReplaceAll(lib, "src/lib.rs", "src/main.rs")+"test adds ... ok\ntest result: ok. 1 passed; 0 failed\nexit code: 0")
	f(false, "npm test", jest, "cat last.log", "PASS src/b.test.js\nexit code: 0")
	f(false, "npm test", jest, "cd ../other && npm test", "PASS src/b.test.js\nTest Suites: 1 passed, 1 total\nexit code: 0")
	f(false, "CI=1 npm test", jest, "npm test", "PASS src/b.test.js\nTest Suites: 1 passed, 1 total\nexit code: 0")
	f(false, "cargo test", cargo, "cargo test --test fx", "     Running tests/fx.rs (target/debug/deps/fx-01)\ntest adds ... ok\ntest result: ok. 1 passed; 0 failed\nexit code: 0")
}

// What could not be made is there once it was made by the same name, whatever is said of it.
func TestWhatWasMadeLaterIsNoOpenFailure(t *testing.T) {
	const failed, made = "HTTP 422: Validation Failed\nexit code: 1", "https://git.test/shop/releases/v1\nexit code: 0"
	f := func(isOver bool, steps ...string) {
		t.Helper()
		toldAsOver(t, isOver, steps)
	}
	f(true, "gh release create v1 --notes x", failed, "gh release create v1 --title v1 --generate-notes", made)
	f(true, "git push && gh release create v1", failed, "git push && gh release create v1 --notes x", made)
	f(false, "gh release create v1 a.zip", failed, "gh release create v1", made)
	f(false, "gh release create v1", failed, "gh release create v1 --notes x", "no such repository\nexit code: 4")
	f(false, "gh pr create --fill", failed, "git checkout main && gh pr create --title x", made)
	text := told(t, "gh release create v1 a.zip", failed, "gh release create v1", made)
	if rows := partOf(text, "open failures"); !strings.Contains(rows, "; with other values it was called in message 5: ended with exit code 0\n") {
		t.Error(rows)
	}
}
