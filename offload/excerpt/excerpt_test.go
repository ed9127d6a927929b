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
	got, omitted := Lines(build(failing)+"2 problems\n", true, 160, bytes4)
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
	const stopped = "make: *** [Makefile:3: check] Error 2"
	if got := Failure("cc main.c\n"+stopped+"\n", false); got != stopped {
		t.Errorf("of a command that may have failed, got %q", got)
	}
}

// The lines of a file stay as they are if they are short; those of an output may not.
func TestJSONIsLaidOut(t *testing.T) {
	long := `{"orders": [` + strings.Repeat(`{"id": 1, "state": "paid"},`, 100) + `{"id": 57, "state": "a, \"}"}], "of":[]}`
	laidOut, ok := LaidOut(long, true)
	if !ok || !strings.HasSuffix(laidOut, "},\n  {\"id\":57,\"state\":\"a, \\\"}\"}\n ],\n \"of\":[]\n}") {
		t.Errorf("%v: %s", ok, laidOut)
	}
	for _, text := range []string{"", "12", laidOut, long[1:], strings.Repeat("[", 1<<20)} {
		if got, ok := LaidOut(text, true); ok {
			t.Errorf("%.40q is told as %s", text, got)
		}
	}
	const pretty = "[\n  {\n    \"id\": 1,\n    \"state\": \"paid\"\n  },\n  {\n    \"id\": 2\n  }\n]\n"
	_, isFile := LaidOut(pretty, true)
	laidOut, ok = LaidOut(pretty, false)
	if isFile || !ok || !strings.Contains(laidOut, "\n {\"id\":1,\"state\":\"paid\"},\n") {
		t.Errorf("%v, %v: %s", isFile, ok, laidOut)
	}
}

// holdLines holds promise 8: what is shown stands in the text word for word and in order, and the counts are true.
func holdLines(t *testing.T, text string, budget int) {
	t.Helper()
	short, omitted := Lines(text, true, budget, bytes4)
	gap := regexp.MustCompile(`\[epitome: (?:(\d+) lines? omitted \((\d+)(?:-\d+)?\)\]\n|(\d+) bytes omitted\])`)
	rest := text // behind what is shown or counted
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	for short != "" {
		at := gap.FindStringSubmatchIndex(short)
		if at == nil {
			at = []int{len(short), len(short)}
		}
		if !strings.HasPrefix(rest, short[:at[0]]) {
			t.Fatalf("%q does not stand at the beginning of %.300q", short[:at[0]], rest)
		}
		rest = rest[at[0]:]
		m := gap.FindStringSubmatch(short[at[0]:])
		short = short[at[1]:]
		if m == nil {
			break
		}
		line := strings.Count(text[:len(text)-len(rest)], "\n") + 1
		if m[2] != "" && number(m[2]) != line {
			t.Fatalf("%q stands in line %d", m[0], line)
		}
		for range number(m[1]) {
			_, rest, _ = strings.Cut(rest, "\n")
		}
		omitted -= number(m[1])
		rest = rest[number(m[3]):]
	}
	if rest != "" || omitted != 0 {
		t.Fatalf("%.300q is neither shown nor counted; %d lines are counted too many", rest, omitted)
	}
}

func TestLongLinesAreCutWithTrueCounts(t *testing.T) {
	words := strings.Repeat("lorem ipsum dolor sit amet ", 1_000)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one line": {"<html>" + words + "</html>", []string{"<html>lorem", "amet </html>"}},
		"no words": {strings.Repeat("é1x", 10_000), []string{"é1xé1x"}},
		"a failure within": {"A" + words + "fatal: no space left on /dev/sda1 " + words + "Z",
			[]string{"no space left on /dev/sda1", "Alorem", "Z"}},
		"three paragraphs": {"A" + words + "B\nC" + words + "D\nE" + words + "F\n",
			[]string{"Alorem", "amet B\n", "Clorem", "amet D\n", "Elorem", "amet F\n"}},
		"among short ones": {build("A" + words + "B\n"), []string{"part_0.c", "\nAlorem", "amet B\n", "part_399.c"}},
	} {
		short, _ := Lines(c.text, true, 1_000, bytes4)
		holdLines(t, c.text, 1_000)
		for _, want := range c.want {
			if !strings.Contains(short, want) {
				t.Errorf("%s: %q is not shown in %s", name, want, short)
			}
		}
		if n := bytes4(short); n > 1_150 || n < 400 {
			t.Errorf("%s: %d tokens are shown", name, n)
		}
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
