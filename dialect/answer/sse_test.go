package answer

import (
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
