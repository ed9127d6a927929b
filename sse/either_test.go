package sse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// notes writes down what it hears; the event "last" is the last one.
type notes struct{ all []string }

func (n *notes) Document(doc []byte) error {
	n.all = append(n.all, fmt.Sprintf("document %s", doc))
	return nil
}

func (n *notes) Event(e Event) (last bool, err error) {
	n.all = append(n.all, fmt.Sprintf("%s %s", e.Type, e.Data))
	return e.Type == "last", nil
}

func (n *notes) End() error { return io.ErrUnexpectedEOF }

func TestBodiesAreHeardAsWhatTheyAre(t *testing.T) {
	f := func(kind, body, want string, fails error) {
		t.Helper()
		var n notes
		err := ReadEither(kind, iotest.OneByteReader(strings.NewReader(body)), Most{Document: 20, Event: 10}, &n)
		if got := strings.Join(n.all, "|"); got != want || !errors.Is(err, fails) {
			t.Errorf("%q %q: %q (%v), want %q (%v)", kind, body, got, err, want, fails)
		}
	}
	const stream = "text/event-stream; charset=utf-8"
	f("application/json", ` {"a":1}`, `document  {"a":1}`, nil)
	f(stream, ` {"a":1}`, `document  {"a":1}`, nil)
	f("", "event: x\ndata: 1\n\nevent: last\ndata: 2\n\ndata: 3\n\n", "x 1|last 2", nil)
	f(stream, "x\n\ndata: 1\n\n", " 1", io.ErrUnexpectedEOF)
	f(stream, "", "", io.ErrUnexpectedEOF)
	f("", "", "document ", nil)
	f("", strings.Repeat("x", 20), "document "+strings.Repeat("x", 20), nil)
	f("", strings.Repeat("x", 21), "", ErrLongDocument)
	f("", "data: "+strings.Repeat("x", 11)+"\n\n", "", ErrTooLong)
}
