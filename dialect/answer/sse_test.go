package answer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// all returns the events of a stream, as TYPE|DATA.
func all(stream string) (list []string) {
	for e := range Events([]byte(stream)) {
		list = append(list, e.Type+"|"+string(e.Data))
	}
	return list
}

func TestEventsAreReadAsBrowsersReadThem(t *testing.T) {
	f := func(stream string, want ...string) {
		t.Helper()
		for _, end := range []string{"\n", "\r", "\r\n"} {
			ended := strings.ReplaceAll(stream, "\n", end)
			if got := all(ended); !slices.Equal(got, want) {
				t.Errorf("%q: got %q; want %q", ended, got, want)
			}
		}
	}
	f("")
	f("\n\n\n")
	f("data: a\n\n", "|a")
	f("\ufeffdata: a\n\n", "|a")
	f("data: a\ndata:b\ndata\ndata:  c\n\n", "|a\nb\n\n c")
	f("data\n\n", "|")
	f("event: first\ndata: a\n\ndata: b\n\n", "first|a", "|b")
	f("event: lost\n\ndata: b\n\n", "|b")
	f("data: a\nevent: behind\n\n", "behind|a")
	f("event: one\nevent: two\ndata: a\n\n", "two|a")
	f(": comment\ndata: a\n:\nretry: 7\nother: x\nData: x\n data: x\n\n", "|a")
	f("data: [1,\ndata: 2]\n\n", "|[1,\n2]")
	f("data: a:b\n\n", "|a:b")
	f("data: no empty line\n", "|no empty line")
	f("data: a\n\ndata: no end", "|a", "|no end")
	f("event: nothing\n")
}

// plainly reads a stream that is there whole in the plainest way.
func plainly(stream string) (list []string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n"), "\n")
	var data []string
	kind := ""
	for _, l := range append(lines, "") { // the end of the stream ends an event
		name, value, _ := strings.Cut(l, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case l == "":
			if data != nil {
				list = append(list, kind+"|"+strings.Join(data, "\n"))
			}
			data, kind = nil, ""
		case name == "data":
			data = append(data, value)
		case name == "event":
			kind = value
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
		for f, behind, ok := NextField(rest); ok; f, behind, ok = NextField(rest) {
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
			if got := lines(stream[:at], stream[at:]); !slices.Equal(got, whole) {
				t.Fatalf("%q cut at %d: %q, want %q", stream, at, got, whole)
			}
		}
		if got := all(stream); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", stream, got, want)
		}
	})
}
