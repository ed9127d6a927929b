package excerpt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/bench/cputime"
	"epitome/rewrite/excerpt/looks"
)

func TestFailuresAreTheLinesThatTell(t *testing.T) {
	f := func(text string, most int, want ...string) {
		t.Helper()
		if got := Failures(text, most); !slices.Equal(got, want) {
			t.Errorf("%q has the failures %q", text, got)
		}
	}
	f("", 3)
	f("all is well\n", 3)
	text := "=== RUN   TestA\n    a_test.go:3: got 1, want 2\n--- FAIL: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\n" +
		"--- FAIL: TestC (0.00s)\n--- FAIL: TestC (0.00s)\nFAIL\n"
	f(text, 9, "a_test.go:3: got 1, want 2", "--- FAIL: TestA (0.00s)", "--- FAIL: TestC (0.00s)")
	f(text, 2, "--- FAIL: TestA (0.00s)", "--- FAIL: TestC (0.00s)")
	f(text, 0)
	f("src/a.c:3:1: error: no\nsrc/a.c:4:1: warning: well\n", 9, "src/a.c:3:1: error: no")
	f("ValueError: no\n"+strings.Repeat("x", 1000)+" error: no\n", 9, "ValueError: no")
}

// Of what tools write, three lines must say what an engineer would ask for first.
func TestThreeLinesOfARealFailureTellTheMost(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		if got := Failures(text, 3); !slices.Equal(got, want) {
			t.Errorf("%.200q has the failures\n%s", text, strings.Join(got, "\n"))
		}
	}
	f(linted(), "payout/book.py:0:1: W291 line too long (100 > 99 characters)",
		"payout/round.py:143:9: E1101 instance of 'Book' has no 'scale_of' member", "Found 151 problems.")
	f(strings.ReplaceAll(linted(), " E1101 ", " E1101: "), "payout/book.py:0:1: W291 line too long (100 > 99 characters)",
		"payout/round.py:143:9: E1101: instance of 'Book' has no 'scale_of' member", "Found 151 problems.")
	f(tested(), "E       AssertionError: assert Decimal('1050.50') == Decimal('1050')",
		"FAILED tests/test_round.py::test_jpy - AssertionError: assert Decimal('1050.50') == Decimal('1050')",
		"FAILED tests/test_round.py::test_bhd - AssertionError: assert Decimal('10.13') == Decimal('10.125')")
	f(compiled(), "native/src/round_40.c:14:10: fatal error: fenv_compat.h: No such file or directory",
		"make: *** [Makefile:22: obj/round_40.o] Error 1")
}

// A linter names a file once, above its complaints: without it a place says nothing.
func TestAPlaceWithoutAFileStandsBelowItsFile(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "/srv/app/src/cart_%d.js\n  1:5   warning  'unused' is assigned a value but never used  no-unused-vars\n", i)
		fmt.Fprintf(&b, "  3:12  warning  Unexpected 'debugger' statement %d  no-debugger\n", i)
		if i%20 == 13 {
			fmt.Fprintf(&b, "  4:%d  error    'sendMail' is not defined  no-undef\n", i)
		}
		b.WriteByte('\n')
	}
	text := b.String()
	e, _ := Of(text, Budget{Tokens: 240, Head: 0.5, Count: pieces}, ownMark)
	for _, want := range []string{"/srv/app/src/cart_13.js\n", "  4:13  error", "/srv/app/src/cart_33.js\n", "  4:33  error"} {
		if !strings.Contains(brief(e), want) {
			t.Errorf("%q is not seen in\n%s", want, brief(e))
		}
	}
	f := func(most int, want ...string) {
		t.Helper()
		if got := Failures(text, most); !slices.Equal(got, want) {
			t.Errorf("the %d that tell most are %q", most, got)
		}
	}
	first := "4:13  error    'sendMail' is not defined  no-undef"
	second := strings.Replace(first, "4:13", "4:33", 1)
	f(1, first)
	f(2, "/srv/app/src/cart_13.js", first)
	f(3, "/srv/app/src/cart_13.js", first) // a second one would seem to stand in the first one's file
	f(4, "/srv/app/src/cart_13.js", first, "/srv/app/src/cart_33.js", second)
	for place, want := range map[string]bool{"  31:9  error": true, "3:1\terror": true, "31:9:": false, "31:9": false,
		"a:1 b": false} {
		if looks.StartsInFile(place) != want {
			t.Errorf("%q", place)
		}
	}
	for name, want := range map[string]bool{"/srv/a.js": true, "a.yaml:": true, `C:\src\a.ts`: true, "a b.js": false, "done": false,
		"src/a.js:3:1: no": false} {
		if looks.IsFile(name) != want {
			t.Errorf("%q", name)
		}
	}
}

// What another tool says, or of another place, does not stand below a place or file as if it were of it.
func TestAMessageStandsBelowNoPlaceButItsOwn(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		if got := Failures(text, 6); !slices.Equal(got, want) {
			t.Errorf("of %.300q the lines that tell are %q", text, got)
		}
	}
	const place, made = "src/foo.c:31:9:\n", "make: *** [all] Error 2"
	const bad, told = "Error: no such type", "File \"x.ml\", line 3, characters 4-5:"
	f("panic: boom\n"+told+"\n"+bad+"\n"+made+"\n", "panic: boom", told, bad, made) // the place once
	f(place+bad+"\n"+bad+" y\n", "src/foo.c:31:9:", bad, bad+" y")
	f("src/a.ts:3:5\n  warning  odd\n  error  bad one\nError: 2 problems\n", "src/a.ts:3:5", "error  bad one", "Error: 2 problems")
	f(place+"   warning: unused variable x\n"+made+"\n", made)
	f(place+"Compiled well\nRunning all tests\n"+bad+"\n", bad)
	f("src/a.ts:3:5\nsrc/b.ts:4:5\n"+bad+"\n", bad) // a list
	f(place+"\n"+bad+"\n", bad)                     // nothing of its code
	f("Listening on\nhttp://localhost:3000\n"+bad+"\n", bad)
	f("render@app/view.js:3:5\n"+bad+"\n", bad)
	f("src/a.ts\nsrc/b.ts\n\n  3:5  error  Bad thing  no-thing\n", "3:5  error  Bad thing  no-thing")
	gap := strings.Repeat("  all is well\n", 2*mostRead/14+10)
	f("src/a.ts\n"+gap+"  3:5  error  Bad thing  no-thing\n", "3:5  error  Bad thing  no-thing")
	line := strings.Repeat("w", 15) + "\n"
	head := strings.Repeat(line, mostRead/len(line)-1) + "panic: no body\n"
	f(head+strings.Repeat(line, 90)+"\t/srv/a.go:31 +0x1\n"+strings.Repeat(line, mostRead/len(line)-2), "panic: no body")
	long := strings.Repeat("long/", 59) + "a.go:1234567890"
	f(long+" is all well\n"+bad+"\n", bad)
}

// Without its short summary, pytest tells why in the lines that begin with E.
func TestTheMessagesOfPytestGoBeforeItsProgress(t *testing.T) {
	text, _, _ := strings.Cut(tested(), "=========================== short")
	got := Failures(text, 2)
	want := []string{"E       AssertionError: assert Decimal('1050.50') == Decimal('1050')",
		"E       AssertionError: assert Decimal('10.13') == Decimal('10.125')"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// linted is what a linter says of many long lines and one error.
func linted() string {
	var b strings.Builder
	for i := range 150 {
		fmt.Fprintf(&b, "payout/book.py:%d:1: W291 line too long (%d > 99 characters)\n", i, 100+i%40)
	}
	return b.String() + "payout/round.py:143:9: E1101 instance of 'Book' has no 'scale_of' member\nFound 151 problems.\n"
}

// tested is what pytest says of two failures.
func tested() string {
	var b strings.Builder
	fails := [][3]string{{"test_jpy", "1050", "1050.50"}, {"test_bhd", "10.125", "10.13"}}
	for i := range 60 {
		fmt.Fprintf(&b, "tests/test_round.py::test_carry_%d PASSED       [ %d%%]\n", i, i)
		if i >= 50 && i < 52 {
			fmt.Fprintf(&b, "tests/test_round.py::%s FAILED       [ %d%%]\n", fails[i-50][0], i)
		}
	}
	b.WriteString("\n=================================== FAILURES ===================================\n")
	for _, x := range fails {
		fmt.Fprintf(&b, "____________________ %[1]s ____________________\n\n    def %[1]s():\n        book = Book(currency=\"JPY\")\n"+
			">       assert book.close() == Decimal(\"%[2]s\")\n"+
			"E       AssertionError: assert Decimal('%[3]s') == Decimal('%[2]s')\n"+
			"E        +  where Decimal('%[3]s') = <bound method Book.close of Book(JPY)>()\n\n"+
			"tests/test_round.py:88: AssertionError\n"+
			"----------------------------- Captured log call ------------------------------\n", x[0], x[1], x[2])
		for k := range 30 {
			fmt.Fprintf(&b, "DEBUG    payout.round:round.py:%d carry step %d of %d.25\n", 20+k, k, 7*k)
		}
	}
	b.WriteString("=========================== short test summary info ============================\n")
	for _, x := range fails {
		fmt.Fprintf(&b, "FAILED tests/test_round.py::%s - AssertionError: assert Decimal('%s') == Decimal('%s')\n", x[0], x[2], x[1])
	}
	return b.String() + "================== 2 failed, 60 passed in 41.07s ===================\n[exit code 1]"
}

// compiled is what make says of many warnings and one error.
func compiled() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "gcc -std=c11 -Wall -O2 -Iinclude -c -o obj/carry_%[1]d.o native/src/carry_%[1]d.c\n", i)
		if i%2 == 1 {
			fmt.Fprintf(&b, "native/src/carry_%[1]d.c: In function 'carry_close':\n"+
				"native/src/carry_%[1]d.c:%[2]d:13: warning: unused variable 'n' [-Wunused-variable]\n"+
				"  %[2]d |         int n;\n      |             ^~~~~~\n", i, 30+i)
		}
		if i == 40 {
			b.WriteString("native/src/round_40.c:14:10: fatal error: fenv_compat.h: No such file or directory\n" +
				"   14 | #include \"fenv_compat.h\"\n      |          ^~~~~~~~~~~~~~~\ncompilation terminated.\n" +
				"make: *** [Makefile:22: obj/round_40.o] Error 1\n")
		}
	}
	return b.String() + "make: Target 'all' not remade because of errors.\n[exit code 2]"
}

// What the gaps name must be worth looking for: no test that passed, and no logger.
func TestNamesOfPassedTestsAndLoggersAreNotRare(t *testing.T) {
	text := tested()
	e, ok := Of(text, Budget{Tokens: 300, Head: .2, Count: func(s string) int { return len(s) / 4 }}, "")
	if !ok || strings.Contains(e.Rare, "PASSED") || !strings.Contains(e.Join(true), "PASSED") ||
		strings.Contains(e.Rare, "DEBUG") {
		t.Errorf("%v, %q", ok, e.Rare)
	}
	e, ok = Ends(text, Budget{Tokens: 300, Count: func(s string) int { return len(s) / 4 }}, "")
	if !ok || e.Rare != e.Join(true) {
		t.Errorf("%v: where no line is read, none is often: %q", ok, e.Rare)
	}
}

// Lines of a log that only say that all goes on do not fill the room.
func TestALogWithOneErrorHasAShortTail(t *testing.T) {
	var b strings.Builder
	for i := range 220 {
		what := []string{"closed", "opened", "carried", "settled"}[i*7%4]
		fmt.Fprintf(&b, "2026-11-20T0%d:%02d:07Z INFO  payout.worker batch=%d %s %d entries host=pay-%d\n", i/60, i%60, 1000+i, what, i%90, i%4)
		if i == 120 {
			b.WriteString("2026-11-20T02:00:07Z ERROR payout.worker batch=7731 failed: ScaleError\n" +
				"payout.errors.ScaleError: JPY wants 0 digits, got 2\n")
		}
	}
	e, ok := Of(b.String(), Budget{Tokens: 2_000, Head: .2, Count: func(s string) int { return len(s) / 4 }}, "")
	shown := e.Join(false)
	if n := strings.Count(shown, " INFO "); !ok || n > 30 || !strings.Contains(shown, "ScaleError: JPY wants") {
		t.Errorf("%v, %d lines:\n%s", ok, n, shown)
	}
}

// The mark of a gap takes as much as a few short lines, which say more.
func TestAGapOfAFewShortLinesIsShown(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "step %d\n%s\nthen %d\n", i, strings.Repeat(string(rune('a'+i%26)), i%7+2), i)
		if i%5 == 4 {
			fmt.Fprintf(&b, "error: cannot find part %d of the shop\n", i)
		}
	}
	e, ok := Of(b.String(), Budget{Tokens: 700, Head: .2, Count: func(s string) int { return len(s) / 4 }}, "")
	for _, p := range e.Parts {
		if p.Gap && p.To-p.From < 3 {
			t.Errorf("%v, a gap of %d lines: %q", ok, p.To-p.From+1, p.Text)
		}
	}
}

// Of a trace, the innermost place in the program's own code is told, wherever the tool puts it.
func TestAFailureIsToldWithItsPlace(t *testing.T) {
	f := threeTell(t)
	f("--- FAIL: TestSettle (0.00s)\npanic: runtime error: index out of range [5] with length 3 [recovered]\n"+
		"\tpanic: runtime error: index out of range [5] with length 3\n\ngoroutine 7 [running]:\n"+
		"testing.tRunner.func1()\n\t/usr/local/go/src/testing/testing.go:1635 +0x35e\npanic({0x102d4c0?, 0xc0000b4018?})\n"+
		"\t/opt/go/src/runtime/panic.go:785 +0x132\nexample.com/shop.(*Book).Settle(0xc000012345)\n"+
		"\t/home/me/shop/settle.go:57 +0x1d\nexample.com/shop.TestSettle(0xc00009c680)\n\t/home/me/shop/settle_test.go:22 +0x85\n"+
		"created by testing.(*T).Run in goroutine 1\n\t/usr/local/go/src/testing/testing.go:1743 +0x390\nFAIL\tshop\t0.004s\n",
		"--- FAIL: TestSettle (0.00s)", "panic: runtime error: index out of range [5] with length 3 [recovered]",
		"/home/me/shop/settle.go:57 +0x1d")
	f("Traceback (most recent call last):\n  File \"/app/run.py\", line 12, in <module>\n    main()\n"+
		"  File \"/app/shop/ledger.py\", line 57, in settle\n    return rows[5]\n"+
		"  File \"/usr/lib/python3/queue.py\", line 9, in get\n    return q[n]\nIndexError: list index out of range\n",
		`File "/app/shop/ledger.py", line 57, in settle`, "IndexError: list index out of range")
	f("TypeError: Cannot read properties of undefined (reading 'sum')\n    at Module.load (node:internal/modules/cjs:12:14)\n"+
		"    at Book.settle (/app/src/ledger.js:57:20)\n    at main (/app/src/index.js:12:8)\n",
		"TypeError: Cannot read properties of undefined (reading 'sum')", "at Book.settle (/app/src/ledger.js:57:20)")
	f("thread 'main' panicked at src/ledger.rs:57:9:\nindex out of bounds: the len is 3 but the index is 5\n"+
		"note: run with RUST_BACKTRACE=1\n",
		"thread 'main' panicked at src/ledger.rs:57:9:", "index out of bounds: the len is 3 but the index is 5")
	f("Exception in thread \"main\" java.lang.IndexOutOfBoundsException: Index 5 out of bounds for length 3\n"+
		"\tat java.base/java.util.ArrayList.get(ArrayList.java:427)\n\tat com.shop.Book.settle(Book.java:57)\n"+
		"\tat com.shop.Main.main(Main.java:12)\n",
		"Exception in thread \"main\" java.lang.IndexOutOfBoundsException: Index 5 out of bounds for length 3",
		"at com.shop.Book.settle(Book.java:57)")
}

// A place is told of the failure that it belongs to, and Rust's message where it stands on a line of its own.
func TestAPlaceIsThatOfItsFailure(t *testing.T) {
	f := threeTell(t)
	f("ERROR:root:job settle failed\nTraceback (most recent call last):\n  File \"/app/main.py\", line 3, in <module>\n"+
		"    main()\n  File \"/app/shop/ledger.py\", line 57, in settle\n    return rows[5]\nIndexError: list index out of range\n",
		"ERROR:root:job settle failed", `File "/app/shop/ledger.py", line 57, in settle`, "IndexError: list index out of range")
	f("error: cannot charge the card 4\nretry\nWarning: deprecated API\n    at old (/app/src/old.js:3:9)\n",
		"error: cannot charge the card 4")
	f("error: cannot charge the card 4\nINFO where it is called\n    at old (/app/src/old.js:3:9)\n",
		"error: cannot charge the card 4")
	f("panic: no row\n\ngoroutine 1 [running]:\nexample.com/shop/internal/book.Settle(0xc000012345)\n"+
		"\t/home/me/shop/internal/book/settle.go:57 +0x1d\nmain.main()\n\t/home/me/shop/main.go:22 +0x85\n",
		"panic: no row", "/home/me/shop/internal/book/settle.go:57 +0x1d")
	f("error: disk broke [recovered 5 sectors]\nerror: disk broke [recovered 8 sectors]\n",
		"error: disk broke [recovered 5 sectors]", "error: disk broke [recovered 8 sectors]")
	f("thread 'main' panicked at 'no row', src/main.rs:5:9\nnote: run with `RUST_BACKTRACE=1` to display a backtrace\n",
		"thread 'main' panicked at 'no row', src/main.rs:5:9")
}

// Whether a line is a place is asked once of each, however many failures stand near it: frames take twice as long as
// other lines, and took eighty times as long.
func TestManyFailuresNearLongFramesTakeNoMoreTime(t *testing.T) {
	const tries, most = 5, 8
	text := func(line string) string {
		var s strings.Builder
		for s.Len() < 100<<10 {
			for n := range 39 {
				s.WriteString(strings.Repeat(" ", n) + "error: cannot do this\n")
			}
			s.WriteString(line)
		}
		return s.String()
	}
	long := strings.Repeat("x.y ", 500)
	frames, others := text("\tat "+long+")\n"), text("\tis "+long+")\n")
	fastest := func(text string, before time.Duration) time.Duration {
		return min(before, cputime.Of(func() { Failures(text, 3) }))
	}
	of, beside := time.Hour, time.Hour
	for range tries {
		of, beside = fastest(frames, of), fastest(others, beside)
	}
	if of > most*beside {
		t.Errorf("with frames it takes %s, without %s", of, beside)
	}
}

// threeTell holds which three lines of a text tell the most.
func threeTell(t *testing.T) func(text string, want ...string) {
	return func(text string, want ...string) {
		t.Helper()
		if got := Failures(text, 3); !slices.Equal(got, want) {
			t.Errorf("%q has the failures\n%s", text, strings.Join(got, "\n"))
		}
	}
}

// Of what several lines say of one failure those are told that say why, as real runs have shown them.
func TestFailuresOfRealRunsTellWhy(t *testing.T) {
	f := func(name, text, line string, outcome Outcome, want ...string) {
		t.Helper()
		if got := FailuresWithWhy(text, 3); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if r := Read(text); r.Line != line || r.Outcome != outcome {
			t.Errorf("%s: outcome %d by %s, line %q, want %d and %q", name, r.Outcome, r.Tool, r.Line, outcome, line)
		}
	}
	const panics = "thread 'tests::rounds' (26883) panicked at crates/rates/src/lib.rs:45:9:"
	cargo := "test tests::adds ... ok\ntest tests::rounds ... FAILED\n\nfailures:\n\n---- tests::rounds stdout ----\n\n" + panics +
		"\nassertion `left == right` failed\n  left: Some(32)\n right: Some(31)\n\n\nfailures:\n    tests::rounds\n\n" +
		"test result: FAILED. 14 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n" +
		"error: test failed, to rerun pass `-p rates --lib`\n"
	f("cargo test", cargo, panics, Failed, panics, "assertion `left == right` failed", "left: Some(32)")
	const bad = "627f6134bc88811ae1c5f938eac7f0e924fd1027 is the first bad commit"
	f("git bisect", cargo+bad+"\ncommit 627f6134\n\n    store: step 4\n\nbisect found first bad commit\n", bad, Unknown,
		panics, "assertion `left == right` failed", bad)
	const none = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
	const all = "test result: ok. 14 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
	f("documents without tests", "running 14 tests\n\n"+all+"\n\n   Doc-tests rates\n\nrunning 0 tests\n\n"+none+"\n", all, Succeeded)
	const failing, why = "FAIL  src/basket.test.ts > Basket > gives a discount", "AssertionError: expected 400 to be 360 // Object.is equality"
	f("vitest", " ❯ src/basket.test.ts (8 tests | 1 failed) 11ms\n     × gives a discount 7ms\n     ✓ removes 0ms\n\n"+
		"⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯\n\n "+failing+"\n"+why+"\n\n- Expected\n+ Received\n\n- 360\n+ 400\n\n"+
		" ❯ src/basket.test.ts:9:23\n\n Test Files  1 failed | 11 passed (12)\n      Tests  1 failed | 73 passed (74)\n", failing, Failed,
		failing, why, "❯ src/basket.test.ts:9:23")
	const check, test = `/src/tests/test_ring.cc:15: CHECK(!c.push(99, "over")) failed`, "1/20 Test  #1: ring ......***Failed    0.02 sec"
	f("ctest", "      Start  1: ring\n "+test+"\n"+check+"\n\n95% tests passed, 1 tests failed out of 20\n\n"+
		"The following tests FAILED:\n\t  1 - ring (Failed)\nErrors while running CTest\n", check, Failed, test, check, "1 - ring (Failed)")
	const race = "SUMMARY: ThreadSanitizer: data race src/ring.cc:10 in ringlog::Ring::push(unsigned long)"
	f("sanitizer", "==================\nWARNING: ThreadSanitizer: data race (pid=16038)\n  Write of size 8 at 0x7b by thread T2:\n"+
		"    #0 ringlog::Ring::push(unsigned long) src/ring.cc:10 (race+0x3a)\n\n"+race+"\n==================\n", race, Unknown,
		"WARNING: ThreadSanitizer: data race (pid=16038)", race)
	const lost = "==15320== 2,048 bytes in 64 blocks are definitely lost in loss record 1 of 1"
	f("valgrind", "==15320== HEAP SUMMARY:\n==15320==     in use at exit: 2,048 bytes in 64 blocks\n==15320== \n"+lost+
		"\n==15320==    by 0x10AD9E: ringlog::Wal::push(unsigned long) (wal.cc:8)\n==15320== \n==15320== LEAK SUMMARY:\n"+
		"==15320==    definitely lost: 2,048 bytes in 64 blocks\n==15320== ERROR SUMMARY: 1 errors from 1 contexts (suppressed: 0 from 0)\n",
		lost, Failed, lost)
	f("eslint", "/src/queue.ts\n  6:5  warning  Unexpected console statement  no-console\n\n✖ 1 problem (0 errors, 1 warning)\n",
		"✖ 1 problem (0 errors, 1 warning)", Succeeded)
	const wrong = "src/basket.ts(16,10): error TS2339: Property 'percent' does not exist on type 'Basket'."
	f("tsc", "> typecheck\n> tsc -p . --noEmit\n\n"+wrong+"\n  Try `npm i`\n", wrong, Failed, wrong)
	const named, row = "PanelTest#test_widget_63:", "ArgumentError: row 63"
	f("minitest", "# Running:\n\n.E.\n\nFinished in 0.010458s, 6119.5104 runs/s, 6119.5104 assertions/s.\n\n  1) Error:\n"+named+"\n"+row+
		"\n    lib/board.rb:10:in `put'\n    test/panel_test.rb:8:in `test_widget_63'\n\n64 runs, 61 assertions, 0 failures, 3 errors, 0 skips\n",
		named, Failed, named, row)
	const rule = "> Rule violated for bundle payment: instructions covered ratio is 0.61, but expected minimum is 0.80"
	f("gradle", "> Task :payment:verify FAILED\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\n"+
		"Execution failed for task ':payment:verify'.\n"+rule+"\n\nBUILD FAILED in 8s\n", "> Task :payment:verify FAILED", Failed,
		"> Task :payment:verify FAILED", "Execution failed for task ':payment:verify'.", rule)
}
