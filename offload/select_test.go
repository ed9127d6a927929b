package offload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func selected(t testing.TB, text, lines, grep string) string {
	t.Helper()
	want, err := ParseRange(lines, grep)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Select(strings.NewReader(text), &out, want); err != nil &&
		(!errors.Is(err, ErrNoLines) || out.Len() > 0) {
		t.Fatal(err)
	}
	return out.String()
}

func TestLinesAreSelected(t *testing.T) {
	const text = "one\ntwo\r\nthree\n\nfive"
	f := func(lines, grep, want string) {
		t.Helper()
		if got := selected(t, text, lines, grep); got != want {
			t.Errorf("lines=%q grep=%q: %q, want %q", lines, grep, got, want)
		}
	}
	f("", "", text)
	f("1-", "", text)
	f("-5", "", text)
	f("-9223372036854775807", "", text)
	f("9223372036854775807-", "", "")
	f("1-1", "", "one\n")
	f("2", "", "two\r\n")
	f("-2", "", "one\ntwo\r\n")
	f("2-3", "", "two\r\nthree\n")
	f("4-", "", "\nfive")
	f("5-9", "", "five")
	f("6-", "", "")
	f("", "t", "2:two\n3:three\n")
	f("", "o$", "2:two\n")
	f("", "^$", "4:\n")
	f("", "", text)
	f("3-", "[et]", "3:three\n5:five\n")
	f("-2", "e", "1:one\n")
	f("", "(?i)FIVE", "5:five\n")
	f("", "o\nt", "")
	f("007", "", "")
}

func TestLinesThatAreNotThereAreAnError(t *testing.T) {
	f := func(text, lines, grep, want string) {
		t.Helper()
		r, err := ParseRange(lines, grep)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		switch err := Select(strings.NewReader(text), &out, r); {
		case want == "" && err != nil:
			t.Errorf("lines=%q grep=%q: %v", lines, grep, err)
		case want != "" && (!errors.Is(err, ErrNoLines) || err.Error() != "no such lines: "+want || out.Len() > 0):
			t.Errorf("lines=%q grep=%q: %v after %q, want %s", lines, grep, err, out.String(), want)
		}
	}
	const text = "one\ntwo\nthree"
	long := strings.Repeat("x", 3*pieceSize)
	f(text, "4-", "", "the text has 3 line(s)")
	f(text+"\n", "200-", "", "the text has 3 line(s)")
	f(text, "4", "o", "the text has 3 line(s)")
	f(text, "", "x", "none matches; the text has 3 line(s)")
	f(text, "2-", "one", "none matches; the text has 3 line(s)")
	f(text, "-2", "three", "none up to 2 matches")
	f(long+"\n"+long, "3-", "", "the text has 2 line(s)")
	f(long+"\n"+long, "", "y", "none matches; the text has 2 line(s)")
	f("", "1-", "", "the text has 0 line(s)")
	f("", "", "", "")
	f(text, "3-9", "", "")
	f("\n", "", "^$", "")
	f(long, "", "x", "")
}

func TestUnclearRangeIsRefused(t *testing.T) {
	f := func(lines, grep, want string) {
		t.Helper()
		if _, err := ParseRange(lines, grep); err == nil || err.Error() != want {
			t.Errorf("lines=%q grep=%q: %v; want %s", lines, grep, err, want)
		}
	}
	f("-", "", `cannot read lines="-": want A-B, A-, -B or A, as in 10-20`)
	f("0", "", `cannot read lines="0": lines are counted from 1`)
	f("0-3", "", `cannot read lines="0-3": lines are counted from 1`)
	f("3-2", "", `cannot read lines="3-2": it ends at 2, before it begins`)
	f("a", "", `cannot read lines="a": "a" is no number; want A-B, A-, -B or A, as in 10-20`)
	f("1-2-3", "", `cannot read lines="1-2-3": "2-3" is no number; want A-B, A-, -B or A, as in 10-20`)
	f("+1", "", `cannot read lines="+1": "+1" is no number; want A-B, A-, -B or A, as in 10-20`)
	f(" 1", "", `cannot read lines=" 1": " 1" is no number; want A-B, A-, -B or A, as in 10-20`)
	f("9223372036854775808", "", `cannot read lines="9223372036854775808": 9223372036854775808 is too large; want at most 9223372036854775807`)
	f("", "(", "cannot read grep=\"(\": error parsing regexp: missing closing ): `(`")
	f("", `(a)\1`, "cannot read grep=\"(a)\\\\1\": error parsing regexp: invalid escape sequence: `\\1`")
	f("", strings.Repeat("a", 257),
		`cannot read grep="`+strings.Repeat("a", 40)+`": it has 257 bytes; want at most 256`)
	f("", "(a{100}){10}x", `cannot read grep="(a{100}){10}x": it has 1023 steps with its repetitions written out; want at most 300`)
}

func FuzzParseRange(f *testing.F) {
	for _, lines := range []string{"", "1", "1-2", "-2", "1-", "-", "0", "99999999999999999999", "1--2", "x"} {
		f.Add(lines, "a+")
	}
	f.Add("1", "(((a{9}){9}){9})")
	f.Fuzz(func(t *testing.T, lines, grep string) {
		want, err := ParseRange(lines, grep)
		if err != nil {
			if len(err.Error()) > 1000 || want != (Range{}) {
				t.Fatalf("%d bytes of error, %v", len(err.Error()), want)
			}
			return
		}
		if want.from < 0 || want.to < 0 || want.to != 0 && want.to < want.from || (want.grep == nil) != (grep == "") {
			t.Fatalf("lines=%q grep=%q is read as %+v", lines, grep, want)
		}
		again := ""
		switch {
		case want.from > 0 && want.to > 0:
			again = fmt.Sprintf("%d-%d", want.from, want.to)
		case want.from > 0:
			again = fmt.Sprintf("%d-", want.from)
		case want.to > 0:
			again = fmt.Sprintf("-%d", want.to)
		}
		if twice, err := ParseRange(again, ""); err != nil || twice.from != want.from || twice.to != want.to {
			t.Fatalf("%q is read as %+v, written %q and read as %+v, %v", lines, want, again, twice, err)
		}
		if err := Select(strings.NewReader("a\nb\n"), io.Discard, want); err != nil && !errors.Is(err, ErrNoLines) {
			t.Fatal(err)
		}
	})
}

// model does what Select does, without bounds: it has all lines in memory. Pieces are of size bytes, those after the
// first of overlap more.
func model(text string, want Range, size, overlap int) string {
	var out strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		n := int64(i + 1)
		if line == "" || n < want.from || want.to != 0 && n > want.to {
			continue
		}
		if want.grep == nil {
			out.WriteString(line)
			continue
		}
		if before, _, found := strings.Cut(line, "\n"); len(before)+1 <= size && found || len(line) < size {
			if bare := cutEnd(line); want.grep.MatchString(bare) {
				fmt.Fprintf(&out, "%d:%s\n", n, bare)
			}
			continue
		}
		for begin, end := 0, size; ; begin, end = end-overlap, end+size {
			if bare := cutEnd(line[begin:min(end, len(line))]); want.grep.MatchString(bare) {
				fmt.Fprintf(&out, "%d+%d:%s\n", n, begin, bare)
			}
			if end >= len(line) || len(line) <= end+size && cutEnd(line[end:]) == "" {
				break
			}
		}
	}
	return out.String()
}

func cutEnd(line string) string {
	if bare, found := strings.CutSuffix(line, "\n"); found {
		return strings.TrimSuffix(bare, "\r")
	}
	return line
}

func TestSelectAgreesWithAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 16 // the least that bufio has
		text := rapid.StringOf(rapid.SampledFrom([]rune("aab\n\rcé"))).Draw(t, "text")
		if rapid.Bool().Draw(t, "long") {
			text += strings.Repeat("ab", rapid.IntRange(0, 40).Draw(t, "times")) + rapid.SampledFrom([]string{"", "\n",
				"\r\n", "c", "\nb"}).Draw(t, "end")
		}
		want := Range{from: rapid.Int64Range(0, 4).Draw(t, "from")}
		if rapid.Bool().Draw(t, "ends") {
			want.to = max(want.from, 1) + rapid.Int64Range(0, 3).Draw(t, "more")
		}
		if grep := rapid.SampledFrom([]string{"", "a", "ab", "^b", "b$", "^$", "ba.a", "c|\r", "[^a]{3}",
			"(?s:.)é"}).Draw(t, "grep"); grep != "" {
			want.grep = regexp.MustCompile(grep)
		}
		overlap := rapid.IntRange(1, 8).Draw(t, "overlap")
		var in io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(t, "byte by byte") {
			in = iotest.OneByteReader(in)
		}
		var out bytes.Buffer
		s := selection{in: bufio.NewReaderSize(in, size), out: bufio.NewWriterSize(&out, 16), overlap: overlap,
			Range: want}
		if err := errors.Join(s.run(), s.out.Flush()); err != nil {
			t.Fatal(err)
		}
		if expected := model(text, want, size, overlap); out.String() != expected {
			t.Fatalf("%q, want %q", out.String(), expected)
		}
	})
}

func TestMatchInALongLineIsFoundWhereverItLies(t *testing.T) {
	for _, at := range []int{0, pieceSize - 3, pieceSize, 2*pieceSize - 2, 2*pieceSize + 1, 10<<20 - 6} {
		line := bytes.Repeat([]byte("."), 10<<20)
		copy(line[at:], "needle")
		got := selected(t, "first\n"+string(line)+"\nlast needle", "", "needle")
		head, rest, _ := strings.Cut(got, ":")
		var n, offset int
		if _, err := fmt.Sscanf(head, "%d+%d", &n, &offset); err != nil || n != 2 ||
			offset+strings.Index(rest, "needle") != at {
			t.Errorf("at %d: %.100q", at, got)
		}
		if !strings.HasSuffix(got, "\n3:last needle\n") || len(got) > 2*(pieceSize+overlap)+100 {
			t.Errorf("at %d: %d bytes", at, len(got))
		}
	}
}
