package excerpt

import (
	"strings"
	"testing"
)

func TestWhatAToolSaysOfItsRunIsRead(t *testing.T) {
	f := func(text string, want Outcome, line string) {
		t.Helper()
		if r := Read(text); r.Outcome != want || r.Line != line {
			t.Errorf("%q is read as %+v", text, r)
		}
	}
	f("", Unknown, "")
	f("ok  \tepitome/unit\t0.1s\n", Succeeded, "ok  \tepitome/unit\t0.1s")
	f("--- FAIL: TestA (0.00s)\n    a_test.go:3: got 1\nFAIL\nFAIL\tx/y\t0.1s\nok  \tx/z\t0.1s\nFAIL\n", Failed,
		"--- FAIL: TestA (0.00s)")
	f("== 1 failed in a web page ==\n", Unknown, "")
	f("=================== 44 passed in 1.23s ====================\n", Succeeded,
		"=================== 44 passed in 1.23s ====================")
	f("FAILED tests/a.py::test_b - KeyError: 'x'\n========= 1 failed, 44 passed in 1.23s =========", Failed,
		"FAILED tests/a.py::test_b - KeyError: 'x'")
	f("Tests:       1 failed, 44 passed, 45 total\n", Failed, "Tests:       1 failed, 44 passed, 45 total")
	f("[INFO] Tests run: 45, Failures: 0, Errors: 0, Skipped: 2\n[INFO] BUILD SUCCESS\n", Succeeded, "[INFO] BUILD SUCCESS")
	f("a long page says that 0 failed\n"+strings.Repeat("and goes on\n", 100), Unknown, "")
	f("Found 3 errors in 2 files.\n", Failed, "Found 3 errors in 2 files.")
	f("[main 4f2a91c] refund: pay by line\n 2 files changed, 3 insertions(+)\n", Succeeded, "[main 4f2a91c] refund: pay by line")
	f("[detached HEAD 4f2a91c] refund: pay by line\n", Succeeded, "[detached HEAD 4f2a91c] refund: pay by line")
	f("To git.example:shop.git\n   4f2a91c..b71c3e0  main -> main\n", Succeeded, "4f2a91c..b71c3e0  main -> main")
	f("To git.example:shop.git\n + 4f2a91c...b71c3e0 main -> main (forced update)\n", Succeeded,
		"+ 4f2a91c...b71c3e0 main -> main (forced update)")
	f("Rebasing (1/2)\nRebasing (2/2)\nSuccessfully rebased and updated refs/heads/refund.\n", Succeeded,
		"Successfully rebased and updated refs/heads/refund.")
	f("Auto-merging shop.go\nCONFLICT (content): Merge conflict in shop.go\n", Failed,
		"CONFLICT (content): Merge conflict in shop.go")
	f("[main 4f2a91c] refund: pay by line\n ! [rejected]        main -> main (fetch first)\n"+
		"error: failed to push some refs to 'git.example:shop.git'\n", Failed, "! [rejected]        main -> main (fetch first)")
	f("[1 2] is no commit\n", Unknown, "")
	f("0 issues.\n", Succeeded, "0 issues.")
	f("shop.go:3:1: unused (unused)\n1 issues:\n* unused: 1\n", Failed, "shop.go:3:1: unused (unused)")
	f("[lint] ERROR task failed\n", Failed, "[lint] ERROR task failed")
	f("npm error command failed\nnpm error command sh -c tsc\n", Failed, "npm error command failed")
	f("FAIL\n"+strings.Repeat("and goes on\n", 100), Unknown, "FAIL") // not where the tool says it
}

// Where one of several runs failed, no tool has said that all went well.
func TestOneFailureAmongSuccessesIsNoSuccess(t *testing.T) {
	f := func(text string, want Outcome) {
		t.Helper()
		if r := Read(text); r.Outcome != want {
			t.Errorf("%.100q is read as %+v", text, r)
		}
	}
	passed := strings.Repeat("test_a (t.A.test_a) ... ok\n", 100) + "Ran 100 tests in 0.1s\n\nOK\n"
	f(passed, Succeeded)
	f("test_b (t.B.test_b) ... FAIL\nFAILED (failures=1)\n"+passed, Unknown)
	f(passed+"FAILED (failures=1)\n", Failed)
	f("error: a log may say so\n"+passed, Unknown)
	f(strings.Repeat("=== RUN   TestError\n--- PASS: TestError (0.00s)\n", 40)+"PASS\n", Succeeded)
}

// Words of trouble anywhere are no success, whoever says them: what is told is worse than nothing if it is untrue.
func TestNoSuccessIsToldBesideWordsOfTrouble(t *testing.T) {
	f := func(line, end string, want Outcome) {
		t.Helper()
		if r := Read("made the shop\n" + line + "\n" + end); r.Outcome != want {
			t.Errorf("%q before %q is read as %+v", line, end, r)
		}
	}
	const ok = "ok  \tp\t0.1s\n"
	for _, line := range []string{
		"Traceback (most recent call last):\n  File \"a.py\", line 3, in pay\nKeyError: 'x'",
		"AssertionError: 3 != 4", "Killed", "line 3: 4711 Killed   ./pay", "1 test failed", "45 passed, 2 tests failed",
		"Build FAILED", "Deployment failed!", "error: linking with cc failed", "✗ refund", "  ❌ refund",
		"java.lang.NullPointerException", "java.lang.NullPointerException at the till", "KeyError('x') was raised",
		"Process exited with code 2", "ERROR Deployment failed", "fatal: no", "[FAIL] refund", "# fail 1", "ℹ fail 1",
		"[INFO] shop-refund ....... FAILURE [  1.234 s]", "warning: 3 tests failed", "goroutine 1 [running]:",
		strings.Repeat("x ", 3_000),
	} {
		f(line, ok, outcomeOf(line))
		f(line, "45 passed in 1.2s\n", outcomeOf(line))
	}
	for _, line := range []string{"", "no errors", "0 failed, 12 passed", "WARN it is old", "Failures: 0, Errors: 0", "took 12 ms"} {
		f(line, ok, Succeeded)
	}
}

// outcomeOf is what a line says of a run by a tool's own form.
func outcomeOf(text string) Outcome {
	l := newJudge().look(text, 0, len(text))
	var r Reading
	r.judge(&l, false)
	return r.Outcome
}

func TestWhatIsNotReadWholeIsNoSuccess(t *testing.T) {
	const run = "=== RUN   TestX\n--- PASS: TestX (0.00s)\n"
	long := strings.Repeat(run, 2*mostRead/len(run))
	f := func(text string, want Outcome) {
		t.Helper()
		if r := Read(text); r.Outcome != want {
			t.Errorf("%d bytes are read as %+v", len(text), r)
		}
	}
	f(long[:len(long)/2]+"PASS\n", Succeeded)
	f(long+"--- FAIL: TestX (0.00s)\nFAIL\tshop/a\t0.1s\n"+long+"PASS\nok  \tshop/b\t0.1s\n", Unknown)
	f(long+long+"PASS\n", Unknown)
	f(long+long+"FAIL\n", Failed)
	f(strings.Repeat("a\n", 2*mostLines+1)+"PASS\n", Unknown)
}

// A conversation may have tens of thousands of results of one line: what is known of tools is not put in order for
// each.
func TestReadingALineCostsLittle(t *testing.T) {
	Read("ok")
	if n := testing.AllocsPerRun(10, func() { Read("FAIL\tepitome/rewrite\t0.1s\n") }); n > 20 {
		t.Errorf("reading a line takes %.0f allocations", n)
	}
}

// Words of a tool in a sentence, in the name of a commit or in counts that go on say nothing of a run.
func TestWordsOfAToolElsewhereSayNothing(t *testing.T) {
	f := func(text string, want Outcome) {
		t.Helper()
		if r := Read(text); r.Outcome != want {
			t.Errorf("%q is read as %+v", text, r)
		}
	}
	f("   4f2a9c1..627f613  fix error TS2304 -> main\n", Unknown)
	f("All is well now, and the error TS2304 is gone.\n", Unknown)
	f("src/refund.ts:31:9 - error TS2304: Cannot find name 'total'.\n", Failed)
	f("src/refund.ts(31,9): error TS2304: Cannot find name 'total'.\n", Failed)
	f("error: fatalError handling was added\n", Unknown)
	f("Errors while running CTest are told in the log\n", Unknown)
	f("x Build failed in 2.31s\n", Failed)
	f("✗ Build failed in 2 of 3 cases, as the guide says\n", Unknown)
	f("3 tests, 0 failures, 3 invalid\n", Failed)
	f("3 tests, 0 failures, 1 error\n", Unknown)
	f("3 tests, 0 failures, 1 excluded, 1 skipped\n", Succeeded)
}
