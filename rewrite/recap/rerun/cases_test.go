package rerun

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestTestsAreKnownByTheLinesThatNameThem(t *testing.T) {
	f := func(text, passed, failed string) {
		t.Helper()
		c := ReadCases(text)
		var list []string
		for id := range c.passed {
			if c.HasPassed(id) {
				list = append(list, id)
			}
		}
		slices.Sort(list)
		if strings.Join(list, "; ") != passed || strings.Join(c.Failed(), "; ") != failed {
			t.Errorf("%q: passed %q, failed %q", text, list, c.Failed())
		}
	}
	f("a.py::x PASSED  [ 50%]\r\na.py::y FAILED\nFAILED a.py::y - assert a::b PASSED\n= 1 failed, 1 passed in 1.2s =", "a.py::x", "a.py::y")
	f("[gw1] [ 9%] PASSED a.py::x \n2 passed, 1 warning in 1.20s (0:00:01)", "a.py::x", "")
	f("ERROR a.py\nFAILED a.py::x[1, 2]\n1 failed, 1 error in 3s", "", "a.py; a.py::x[1, 2]")
	f("FAILED a.py::x\n2 failed in 3s", "", "")
	f("FAILED a.py::x\nERROR    root:x.py:3 no\n1 failed in 3s", "", "")
	f("FAILED a.py::x\n1 failed; see in 3s", "", "")
	f("a.py::x PASSED\na.py::x FAILED\nFAILED a.py::x\n1 failed, 1 rerun in 3s", "", "a.py::x")

	f("PASS src/a.test.js (5.1 s)\nFAIL src/b.test.js\n  \u25cf adds\n\nSummary\nFAIL src/b.test.js\nTest Suites: 1 failed, 1 passed, 2 total\n", "src/a.test.js", "src/b.test.js")
	f("PASS api src/a.spec.ts\nPASS web src/__tests__/c.ts\nTest Suites: 2 passed, 2 total", "api src/a.spec.ts; web src/__tests__/c.ts", "")
	f("PASS api src/a.spec.ts\nFAIL web src/a.spec.ts\nTest Suites: 1 failed, 1 passed, 2 total", "api src/a.spec.ts", "web src/a.spec.ts")
	f("PASS src/a.test.js\nTests:       1 skipped, 3 passed, 4 total\nTest Suites: 1 passed, 1 total", "", "")
	f("PASS src/a.test.js\nTests:       4 passed, 4 total\nTest Suites: 1 passed, 1 total", "src/a.test.js", "")
	f(" \u2713 src/a.test.ts (3 tests | 1 skipped) 12ms\n Test Files  1 passed (1)", "", "")
	f(" \u2713 src/a.test.ts (3 tests) 12ms\n \u2713 src/b.test.ts > adds 3ms\n FAIL  src/b.test.ts > adds > twice\n FAIL  src/b.test.ts > subtracts\n Test Files  1 failed | 1 passed (2)",
		"src/a.test.ts", "src/b.test.ts")
	f("FAIL src/b.test.js\nTest Suites: 2 failed, 2 total", "", "")
	f("PASS src/a.test.js\nFAIL src/a.test.js\nTest Suites: 1 failed, 1 passed, 2 total", "", "src/a.test.js")
	f("FAIL src/b.test.js\nJest: \"global\" coverage threshold for lines (80%) not met: 71%\nTest Suites: 1 failed, 1 total", "", "")
	f("PASS all is well\nFAIL: src\n\u2713 adds (3 ms)", "", "")

	const of, main = "unittests src/lib.rs (target/debug/deps/shop-01)", "unittests src/main.rs (target/debug/deps/shop-02)"
	const lib = "     Running " + of + "\n"
	f(lib+"test fees::adds ... ok\ntest fees::rounds ... FAILED\ntest fees::waits ... ignored\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured",
		of+" fees::adds", of+" fees::rounds")
	f(lib+"test adds ... FAILED\ntest result: FAILED. 0 passed; 1 failed;\n     Running tests/fx.rs (target/debug/deps/fx-01)\ntest adds ... ok\ntest result: ok. 1 passed; 0 failed;\n   Doc-tests shop\ntest src/lib.rs - f (line 3) ... ok",
		"doc shop src/lib.rs - f (line 3); tests/fx.rs (target/debug/deps/fx-01) adds", of+" adds")
	f("Running "+main+"\ntest adds ... ok\ntest result: ok. 1 passed; 0 failed\n", main+" adds", "")
	f("Running "+of+"\nRunning "+main+"\ntest adds ... ok\ntest result: ok. 1 passed; 0 failed\ntest adds ... ok\n"+
		"test result: ok. 1 passed; 0 failed\n", "", "") // errors stand before what was put out
	f("test adds ... ok\n", "", "")
	f("test adds ... FAILED\ntest result: FAILED. 0 passed; 12345678 failed;", "", "")
	f("", "", "")
}

// Each test has the name of its program: that is not as long as who writes it likes.
func TestManyTestsOfALongProgramAreReadInLittleRoom(t *testing.T) {
	text := "Running " + strings.Repeat("x", 1<<16) + "-1)\n" + strings.Repeat("test adds ... ok\n", 1_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ReadCases(text)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(4*len(text)) {
		t.Errorf("%d bytes are read in %d", len(text), n)
	}
}
