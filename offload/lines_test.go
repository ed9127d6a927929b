package offload

import (
	"errors"
	"strings"
	"testing"
)

func TestLinesAreSelected(t *testing.T) {
	const text = "one\ntwo\r\nthree\n\nfive"
	f := func(lines, grep, want string) {
		t.Helper()
		r, err := ParseRange(lines, grep)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Select(t.Context(), []byte(text), r)
		if string(out) != want || errors.Is(err, ErrNoLines) != (want == "") {
			t.Errorf("lines=%q grep=%q: %q, %v; want %q", lines, grep, out, err, want)
		}
	}
	f("", "", text)
	f("1-", "", text)
	f("999999999999999999-", "", "")
	f("1-1", "", "one\n")
	f("2", "", "two\r\n")
	f("2-3", "", "two\r\nthree\n")
	f("4-", "", "\nfive")
	f("", "t", "2:two\n3:three\n")
	f("", "^$", "4:\n")
	f("3-", "[et]", "3:three\n5:five\n")
	f("", "(?i)FIVE", "5:five\n")
	f("", "o\nt", "")
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
		if _, err := Select(t.Context(), []byte("a\nb\n"), want); err != nil && !errors.Is(err, ErrNoLines) {
			t.Fatal(err)
		}
	})
}
