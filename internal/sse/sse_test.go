package sse

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// shown returns an event as a test shows it.
func shown(e Event) string { return fmt.Sprintf("%s|%s|%s", e.Type, e.ID, e.Data) }

// all reads the events of a stream to its end.
func all(t *testing.T, in io.Reader, most int) (list []string, err error) {
	t.Helper()
	for r := NewReader(in, most); ; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, shown(e))
	}
}

func TestEventsAreReadAsBrowsersReadThem(t *testing.T) {
	f := func(stream string, want ...string) {
		t.Helper()
		for _, end := range []string{"\n", "\r", "\r\n"} {
			ended := strings.ReplaceAll(stream, "\n", end)
			if got, err := all(t, strings.NewReader(ended), 1<<10); !slices.Equal(got, want) || err != nil {
				t.Errorf("%q: got %q, %v; want %q", ended, got, err, want)
			}
		}
	}
	f("")
	f("\n\n\n")
	f("data: a\n\n", "||a")
	f("\ufeffdata: a\n\n", "||a")
	f("data: a\ndata:b\ndata\ndata:  c\n\n", "||a\nb\n\n c")
	f("data\n\n", "||")
	f("event: first\ndata: a\n\ndata: b\n\n", "first||a", "||b")
	f("event: lost\n\ndata: b\n\n", "||b")
	f("data: a\nevent: behind\n\n", "behind||a")
	f("event: one\nevent: two\ndata: a\n\n", "two||a")
	f("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", "|1|a", "|1|b", "||c")
	f("id: 1\n\ndata: a\n\nid: \x00\ndata: b\n\n", "|1|a", "|1|b")
	f(": comment\ndata: a\n:\nretry: 7\nother: x\nData: x\n data: x\n\n", "||a")
	f("data: [1,\ndata: 2]\n\n", "||[1,\n2]")
	f("data: a:b\n\n", "||a:b")
	f("data: no empty line\n", "||no empty line")
	f("data: a\n\ndata: no end", "||a", "||no end")
	f("event: nothing\n")
}

func TestStreamThatFailsHandsOutNoHalfEvent(t *testing.T) {
	f := func(want error, list []string, in io.Reader) {
		t.Helper()
		if got, err := all(t, in, 16); !errors.Is(err, want) || !slices.Equal(got, list) {
			t.Errorf("got %q, %v; want %q, %v", got, err, list, want)
		}
	}
	cut := io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	f(io.ErrUnexpectedEOF, []string{"||a"}, cut)
	f(ErrTooLong, []string{"||a"}, strings.NewReader("data: a\n\ndata: "+strings.Repeat("x", 20)+"\n\n"))
	f(ErrTooLong, nil, strings.NewReader(": "+strings.Repeat("x", 20)+"\n\n"))
	f(ErrTooLong, nil, strings.NewReader(strings.Repeat("data: 12345\n", 4)+"\n"))
	f(nil, []string{"||12345\n12345"}, strings.NewReader(strings.Repeat("data: 12345\n", 2)+"\n"))
}

func TestNextWaitsForTheEndOfTheLine(t *testing.T) {
	f := func(data string, ok bool, name, value, rest string) {
		t.Helper()
		got, behind, whole := Next([]byte(data))
		if whole != ok || string(got.Name) != name || string(got.Value) != value || string(behind) != rest {
			t.Errorf("%q: %q %q, whole %v, rest %q", data, got.Name, got.Value, whole, behind)
		}
	}
	f("", false, "", "", "")
	f("data: a", false, "", "", "data: a")
	f("data: a\r", false, "", "", "data: a\r")
	f("data: a\n", true, "data", "a", "")
	f("data: a\r\n", true, "data", "a", "")
	f("data: a\rdata: b", true, "data", "a", "data: b")
	f("data: a\n\r\n", true, "data", "a", "\r\n")
	f(":x\n", true, "", "x", "")
	f("\n", true, "", "", "")
	for line, comment := range map[string]bool{"\n": false, ":\n": true, ": x\n": true, "x\n": false} {
		if got, _, _ := Next([]byte(line)); got.Comment() != comment || got.End != (line == "\n") {
			t.Errorf("%q: comment %v, end %v", line, got.Comment(), got.End)
		}
	}
}

func TestStreamsAreKnownByTheirBeginning(t *testing.T) {
	f := func(want bool, list ...string) {
		t.Helper()
		for _, begin := range list {
			if Looks([]byte(begin)) != want {
				t.Errorf("%q: want %v", begin, want)
			}
		}
	}
	f(true, "data: a", "event: a", ": comment", "id: 1", "retry: 7", " \r\n\ufeffdata:a")
	f(false, "", "{", "{\"data\": 1}", "date: a", "error: a", "<html>")
}

// plainly reads a stream that is there whole in the plainest way.
func plainly(stream string) (list []string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n"), "\n")
	var data []string
	kind, id := "", ""
	for _, l := range append(lines, "") { // the end of the stream ends an event
		name, value, _ := strings.Cut(l, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case l == "":
			if data != nil {
				list = append(list, kind+"|"+id+"|"+strings.Join(data, "\n"))
			}
			data, kind = nil, ""
		case name == "data":
			data = append(data, value)
		case name == "event":
			kind = value
		case name == "id" && !strings.Contains(value, "\x00"):
			id = value
		}
	}
	return list
}

// lines returns the fields of a stream that comes in two pieces.
func lines(first, second string) (list []string) {
	note := func(f Field) { list = append(list, fmt.Sprintf("%q %q %v", f.Name, f.Value, f.End)) }
	rest := []byte(first)
	for _, piece := range []string{"", second} {
		rest = append(slices.Clone(rest), piece...)
		for f, behind, ok := Next(rest); ok; f, behind, ok = Next(rest) {
			note(f)
			rest = behind
		}
	}
	for f := range Fields(rest) {
		note(f)
	}
	return list
}

// Wherever a stream is cut into pieces, it says the same, and what it says is what the plainest reader finds.
func FuzzPiecesSayTheSame(f *testing.F) {
	f.Add("data: a\n\n")
	f.Add("\ufeffevent: x\r\ndata: a\r\ndata: b\r\n\r\nid: 1\rdata\r\r: c\n\ndata: d")
	f.Add("data:\r\r\n\n\r")
	f.Fuzz(func(t *testing.T, stream string) {
		if len(stream) > 1<<10 {
			return
		}
		want := plainly(stream)
		whole := lines(stream, "")
		for at := range len(stream) + 1 {
			in := io.MultiReader(strings.NewReader(stream[:at]), strings.NewReader(stream[at:]))
			if got, err := all(t, in, 1<<11); !slices.Equal(got, want) || err != nil {
				t.Fatalf("%q cut at %d: %q, %v; want %q", stream, at, got, err, want)
			}
			if got := lines(stream[:at], stream[at:]); !slices.Equal(got, whole) {
				t.Fatalf("%q cut at %d: %q, want %q", stream, at, got, whole)
			}
		}
		if got, err := all(t, iotest.OneByteReader(strings.NewReader(stream)), 1<<11); !slices.Equal(got, want) ||
			err != nil {
			t.Fatalf("%q byte by byte: %q, %v; want %q", stream, got, err, want)
		}
	})
}
