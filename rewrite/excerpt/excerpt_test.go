package excerpt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func bytes4(text string) int { return len(text)/4 + 1 }

// build is the output of a build with a text in its middle.
func build(middle string) string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "cc -O2 -c part_%d.c -o part_%d.o\n", i, i)
		if i == 200 {
			b.WriteString(middle)
		}
	}
	return b.String()
}

func TestLinesShowEndsFailuresAndTheirHeading(t *testing.T) {
	failing := "report.js\n  1:1  warning  tabs\n  2:1  warning  tabs\n" +
		"  4:3  error  'send' is not defined\n  9:1  warning  tabs\n"
	got, omitted := Lines(build(failing)+"2 problems\n", 160, bytes4)
	want := `cc -O2 -c part_0.c -o part_0.o
cc -O2 -c part_1.c -o part_1.o
cc -O2 -c part_2.c -o part_2.o
[epitome: 197 lines omitted (4-200)]
cc -O2 -c part_200.c -o part_200.o
report.js
  1:1  warning  tabs
  2:1  warning  tabs
  4:3  error  'send' is not defined
  9:1  warning  tabs
cc -O2 -c part_201.c -o part_201.o
[epitome: 193 lines omitted (208-400)]
cc -O2 -c part_395.c -o part_395.o
cc -O2 -c part_396.c -o part_396.o
cc -O2 -c part_397.c -o part_397.o
cc -O2 -c part_398.c -o part_398.o
cc -O2 -c part_399.c -o part_399.o
2 problems
`
	if got != want || omitted != 390 {
		t.Errorf("%d lines are omitted: %s", omitted, got)
	}
}

func TestFailureIsTheWholeOfIt(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := Failure(build(text), true); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	f("", "")
	f("--- FAIL: TestX (0.00s)\n    x_test.go:9: got 1, want 2\n",
		"--- FAIL: TestX (0.00s)\n    x_test.go:9: got 1, want 2")
	f("error[E0308]: mismatched types\n --> src/a.rs:4:9\n  |\n4 |     1\n  |     ^ expected `&str`\n",
		"error[E0308]: mismatched types\n --> src/a.rs:4:9\n  |     ^ expected `&str`")
	f("Error: no such table\n    Error: no such table\nError: no such table\n", "Error: no such table")
	f("AssertionError: totals differ\n+ expected - actual\n-30\n+31\n at tally.js:7:3\n",
		"AssertionError: totals differ\n+ expected - actual\n-30\n+31\n at tally.js:7:3")
}

func TestJSONInLongLinesIsLaidOut(t *testing.T) {
	long := `{"orders": [` + strings.Repeat(`{"id": 1, "state": "paid"},`, 40) + `{"id": 57, "state": "stuck"}]}`
	laidOut, ok := LaidOut(long)
	if !ok || !strings.Contains(laidOut, "\n  {\n   \"id\": 57,\n   \"state\": \"stuck\"\n  }\n ]\n}") {
		t.Errorf("%v: %s", ok, laidOut)
	}
	for _, text := range []string{"", "12", laidOut, long[1:], strings.Repeat("[", 1<<20)} {
		if got, ok := LaidOut(text); ok {
			t.Errorf("%.40q is told as %s", text, got)
		}
	}
}

// holdLines holds promise 8: what is shown stands in the text word for word and in order, and the counts are true.
func holdLines(t *testing.T, text string, budget int) {
	t.Helper()
	short, omitted := Lines(text, budget, bytes4)
	if omitted == 0 {
		return
	}
	gap := regexp.MustCompile(`^\[epitome: (\d+) lines? omitted \((\d+)(?:-\d+)?\)\]\n$`)
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	at, left := 0, 0
	for l := range strings.Lines(short) {
		if m := gap.FindStringSubmatch(l); m != nil {
			n, _ := strconv.Atoi(m[1])
			if from, _ := strconv.Atoi(m[2]); from != at+1 {
				t.Fatalf("%q stands behind line %d", l, at)
			}
			at, left = at+n, left+n
			continue
		}
		if at >= len(lines) || l != lines[at] || strings.Contains(l, Mark) {
			t.Fatalf("%q is not line %d of %.300q", l, at+1, text)
		}
		at++
	}
	if at != len(lines) || left != omitted {
		t.Fatalf("%d of %d lines, %d of %d omitted", at, len(lines), left, omitted)
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a\nerror: b\n\n  c\nd", 10)
	f.Add("[epitome: 3 lines omitted (2-4)]\nfail\r\nFAIL\n", 3)
	f.Fuzz(func(t *testing.T, text string, budget int) {
		holdLines(t, text, budget%10_000)
		for l := range strings.SplitSeq(Failure(text, true), "\n") {
			if l != "" && !strings.Contains("\n"+text+"\n", "\n"+l+"\n") || strings.Contains(l, Mark) {
				t.Fatalf("%q is no line of %q", l, text)
			}
		}
	})
}
