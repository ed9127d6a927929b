package excerpt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// logOf are so many lines of a service's log, one of which is another one.
func logOf(n int, other string) string {
	var b strings.Builder
	for i := range n {
		line := fmt.Sprintf("2026-11-20T10:%02d:%02dZ INFO  rate EUR=%d.%d age=%ds", i/60, i%60, i%3, i*731%997, i%300)
		if i == n/2 {
			line = other
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// withNumbers are the lines of a text as tools number them that read files.
func withNumbers(text string) string {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, "%6d\t%s", n, l)
	}
	return b.String()
}

func TestALogIsToldFromOtherFiles(t *testing.T) {
	f := func(what, text string, want bool) {
		t.Helper()
		for _, text := range []string{text, withNumbers(text)} {
			if got := IsLog(text); got != want {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
	}
	f("times and levels", logOf(60, "2026-11-20T10:02:00Z ERROR no rate"), true)
	f("levels alone", strings.Repeat("INFO:root: took an order\nWARNING:root: slow\n[error] gone\n", 20), true)
	f("a panic with its trace", "starting\npanic: no rate\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/shop/main.go:12 +0x1d\n", true)
	f("a run of tests", "shop tests\n--- FAIL: TestRate (0.00s)\n    rate_test.go:3: no rate\nFAIL\nFAIL\tshop/rate\t0.1s\n", true)
	f("nothing", "", false)
	f("prose", strings.Repeat("An error: the shop has failed to pay.\nIt was late, as in 2026, when nobody looked.\n", 40), false)
	f("a program", strings.Repeat("func rate() error {\n\treturn errors.New(\"error: no rate\")\n}\n", 30), false)
	f("a program that logs", strings.Repeat("log_error() {\n  echo \"ERROR $1\"; exit 1;\n}\nif failed; then log_error x; fi;\n", 30), false)
	f("a table", strings.Repeat("po_7001,731,eur,settled\n", 60), false)
	f("a trace in much prose, without more", strings.Repeat("The shop pays money back.\n", 50)+"panic: no rate\n", false)
}

func TestALogTellsItsTrouble(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		if got := Trouble(text, 2); !slices.Equal(got, want) {
			t.Errorf("%q is told, want %q", got, want)
		}
	}
	fails, warns := "2026-11-20T10:02:00Z ERROR stale rate KWD", "2026-11-20T10:02:00Z WARN SKU-5521 has no price"
	f(logOf(60, fails), fails)
	f(logOf(60, warns), warns)
	f(logOf(60, warns+"\n"+strings.ReplaceAll(warns, "5521", "7"))+fails+"\n", fails)
	f(logOf(60, "2026-11-20T10:02:00Z INFO nothing"))
	f(withNumbers(logOf(60, fails)), "31\t"+fails)
}

// What a tool says of each part that it went well is told, and the steps of its work are not.
func TestPartsThatWentWellStandBeforeTheirSteps(t *testing.T) {
	var b strings.Builder
	for part := range 4 {
		for i := range 60 {
			fmt.Fprintf(&b, "=== RUN   Test_%d_%d\n--- PASS: Test_%d_%d (0.00s)\n", part, i, part, i)
		}
		fmt.Fprintf(&b, "PASS\nok  \tshop/part_%d\t0.010s\n", part)
	}
	e, ok := Of(b.String(), Budget{Tokens: 1_000, Head: 0.2, Count: func(s string) int { return len(s) / 3 }}, "[mark ")
	if !ok {
		t.Fatal("it is not cut")
	}
	shown := e.Join(false)
	for part := range 4 {
		if line := fmt.Sprintf("ok  \tshop/part_%d\t", part); !strings.Contains(shown, line) {
			t.Errorf("%q is not in %s", line, shown)
		}
	}
	if n := strings.Count(shown, "=== RUN"); n > 12 {
		t.Errorf("%d tests are shown as they begin", n)
	}
}

// Of several failures each is told with why, and of one no more than before.
func TestFailuresAreToldWithWhy(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, "--- FAIL: Test_%d (0.00s)\n    rate_test.go:%d: got %d, want 7\n    rate_test.go:9: and more\n", i, 10+i, i)
	}
	b.WriteString("FAIL\nFAIL\tshop/rate\t0.1s\n")
	want := []string{"--- FAIL: Test_0 (0.00s)", "rate_test.go:10: got 0, want 7", "--- FAIL: Test_1 (0.00s)",
		"rate_test.go:11: got 1, want 7"}
	if got := FailuresWithWhy(b.String(), 2); !slices.Equal(got, want) {
		t.Errorf("%q are told, want %q", got, want)
	}
	first, _, _ := strings.Cut(b.String(), "--- FAIL: Test_1")
	if got, want := FailuresWithWhy(first, 3), Failures(first, 3); !slices.Equal(got, want) {
		t.Errorf("of one failure %q are told, want %q", got, want)
	}
}

// The numbers that a tool puts before lines hide neither times nor what stood still.
func TestSilenceIsSeenBehindNumbers(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		at := i
		if i > 150 {
			at += 1_200
		}
		said := fmt.Sprintf("took order %d", i*731%997)
		if i == 150 {
			said = "asks the bank for its rates"
		}
		fmt.Fprintf(&b, "10:%02d:%02d INFO %s\n", at/60, at%60, said)
	}
	for _, text := range []string{b.String(), withNumbers(b.String())} {
		e, ok := Of(text, Budget{Tokens: 600, Head: 0.2, Count: func(s string) int { return len(s) / 3 }}, "[mark ")
		if shown := e.Join(false); !ok || !strings.Contains(shown, "asks the bank") || !strings.Contains(shown, "10:22:31 ") {
			t.Errorf("what stood still is not in %s", shown)
		}
	}
}
