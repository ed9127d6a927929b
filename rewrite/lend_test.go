package rewrite

import (
	"bytes"
	"testing"
	"unsafe"

	"epitome/rewrite/chat"
)

// What came and what was sent lies in memory that is another request's the next moment: nothing of it may be held.
func TestNothingIsHeldOfBodiesThatWereShaped(t *testing.T) {
	s := newSession(200 << 10)
	own, borrowing := newBench(4_000_000), newBench(4_000_000)
	for _, w := range []*bench{own, borrowing} {
		w.limits.Offload, w.limits.OffloadReads = 400, 400
	}
	var room []byte
	lend := func(n int) []byte {
		if room == nil {
			room = make([]byte, 0, 1<<20)
			return room
		}
		return nil // to one that has some there is no second
	}
	lay := 0
	for n := 10; n <= len(s.items); n += 7 {
		want := own.shape(s.body(n))
		body := []byte(s.body(n))
		room = nil
		got := borrowing.Shape(Input{Dialect: chat.Dialect{}, Body: body, Upstream: "up", Limits: &borrowing.limits,
			Lend: lend})
		if !bytes.Equal(got.Body, want.Body) || got.Changed != want.Changed || got.Report.Action != want.Report.Action {
			t.Fatalf("with %d items %s makes another body in memory that is lent, of %d bytes in place of %d", n,
				got.Report.Action, len(got.Body), len(want.Body))
		}
		if got.Changed && unsafe.SliceData(got.Body) == unsafe.SliceData(room) {
			lay++
		}
		for _, b := range [][]byte{body, room[:cap(room)]} {
			for i := range b {
				b[i] = '#'
			}
		}
	}
	if lay < 5 {
		t.Errorf("%d bodies lay in memory that was lent: this shows little", lay)
	}
}
