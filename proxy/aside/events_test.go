package aside

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"epitome/proxy/wire"
	"epitome/rewrite/aside"
)

// hoarder holds all that it hears, and passes it on.
type hoarder struct {
	aside.Hearing
	size int
}

func (h *hoarder) Event(dst, raw, data []byte) (out []byte, ends bool) {
	h.size += len(data)
	return append(dst, raw...), false
}

func (h *hoarder) Size() int { return h.size }

// TestAnAnswerWithoutAnEndIsBounded: what was heard is passed on, and then the answer is one that was cut.
func TestAnAnswerWithoutAnEndIsBounded(t *testing.T) {
	e := events{hearing: &hoarder{}}
	piece := append(append([]byte("data: "), bytes.Repeat([]byte("x"), mostEvent-100)...), "\n\n"...)
	for n := range mostAnswer/mostEvent + 1 {
		out, err := e.take(piece)
		var cut *wire.Failure
		if last := n == mostAnswer/mostEvent; errors.As(err, &cut) != last || len(out) != len(piece) {
			t.Fatalf("piece %d: %d bytes are passed on, %v", n, len(out), err)
		}
	}
}

// TestAnEventWithoutAnEndIsBounded likewise.
func TestAnEventWithoutAnEndIsBounded(t *testing.T) {
	e := events{hearing: &hoarder{}}
	piece := bytes.Repeat([]byte("x"), mostEvent)
	if out, err := e.take(piece); err != nil || len(out) > 0 {
		t.Fatalf("%d bytes are passed on, %v", len(out), err)
	}
	if _, err := e.take([]byte("x")); err == nil {
		t.Error("it has no end")
	}
}

// TestRoomIsMadeInSteps: the first is every answer's, and without room for another one the answer is cut.
func TestRoomIsMadeInSteps(t *testing.T) {
	var made []int
	full := errors.New("full")
	r := Relay{Hold: func(size int) error {
		if made = append(made, size); size > 4*holdStep {
			return full
		}
		return nil
	}}
	f := func(size int, cut bool, want ...int) {
		t.Helper()
		made = nil
		err := r.hold(size)
		var failure *wire.Failure
		if errors.As(err, &failure) != cut || errors.Is(err, full) != cut || !slices.Equal(made, want) {
			t.Errorf("%d bytes: room for %v, %v", size, made, err)
		}
	}
	f(holdStep, false)
	f(holdStep+1, false, 2*holdStep+1)
	f(2*holdStep+1, false)
	f(3*holdStep, false, 4*holdStep)
	f(3*holdStep+1, false)
	f(4*holdStep+1, true, 5*holdStep+1)
}
