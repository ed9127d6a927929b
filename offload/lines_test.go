package offload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLinesAreSelected(t *testing.T) {
	const text = "one\ntwo\r\nthree\n\nfive"
	f := func(lines, grep, want string) {
		t.Helper()
		r, err := ParseRange(lines, grep)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err = Select(iotest.OneByteReader(strings.NewReader(text)), &out, r)
		if out.String() != want || errors.Is(err, ErrNoLines) != (want == "") {
			t.Errorf("lines=%q grep=%q: %q, %v; want %q", lines, grep, out.String(), err, want)
		}
	}
	f("", "", text)
	f("1-", "", text)
	f("-5", "", text)
	f("9223372036854775807-", "", "")
	f("1-1", "", "one\n")
	f("2", "", "two\r\n")
	f("2-3", "", "two\r\nthree\n")
	f("4-", "", "\nfive")
	f("6-", "", "")
	f("", "t", "2:two\n3:three\n")
	f("", "o$", "2:two\n")
	f("", "^$", "4:\n")
	f("3-", "[et]", "3:three\n5:five\n")
	f("-2", "e", "1:one\n")
	f("", "(?i)FIVE", "5:five\n")
	f("", "o\nt", "")
	f("007", "", "")
}

func FuzzParseRange(f *testing.F) {
	for _, bad := range []string{"-", "0", "0-3", "3-2", "a", "1-2-3", "+1", " 1", "9223372036854775808"} {
		f.Add(bad, "")
		if _, err := ParseRange(bad, ""); err == nil || !strings.Contains(err.Error(), "10-20") {
			f.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{"(", `(a)\1`, strings.Repeat("a", 257)} {
		f.Add("", bad)
		if _, err := ParseRange("", bad); err == nil {
			f.Errorf("%q is taken", bad)
		}
	}
	f.Fuzz(func(t *testing.T, lines, grep string) {
		want, err := ParseRange(lines, grep)
		if err != nil {
			return
		}
		if err := Select(strings.NewReader("a\nb\n"), io.Discard, want); err != nil && !errors.Is(err, ErrNoLines) {
			t.Fatal(err)
		}
	})
}

func TestMatchInALongLineIsFoundWhereverItLies(t *testing.T) {
	want, err := ParseRange("", "needle")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, 299, 301, 1 << 20, 3<<20 - 6} {
		line := bytes.Repeat([]byte("."), 3<<20)
		copy(line[at:], "needle")
		var out strings.Builder
		if err := Select(strings.NewReader("first\n"+string(line)+"\nlast needle"), &out, want); err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(out.String(), ":")
		var n, offset int
		_, _ = fmt.Sscanf(head, "%d+%d", &n, &offset)
		if n != 2 || offset+strings.Index(rest, "needle") != at {
			t.Errorf("at %d: %.100q", at, out.String())
		}
		if !strings.HasSuffix(out.String(), "\n3:last needle\n") || out.Len() > 1000 {
			t.Errorf("at %d: %d bytes", at, out.Len())
		}
	}
}
