package rewrite_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"epitome/dialect/chat"
	"epitome/event"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
)

// A conversation that the user has restored is sent byte for byte as the client writes it: also after pauses, when
// clearing would cost nothing, and by another process. Where it no longer fits, the ladder shortens the originals.
func TestRestoredConversationStaysWhole(t *testing.T) {
	limits, s := defaultLimits(), newStorage()
	p := start(s)
	ask := func(calls int) rewrite.Output {
		t.Helper()
		p.window.Store(100_000)
		s.now = s.now.Add(25 * time.Hour) // no cache lives so long
		body := bodyOf("chat", commands(calls))
		out := p.Shape(rewrite.Input{Dialect: chat.Dialect{}, Body: body, Limits: &limits, Now: s.now})
		if out.Report.Err != nil {
			t.Fatal(out.Report.Err)
		}
		return out
	}
	ask(39)
	cleared := ask(40)
	if cleared.Report.Cleared == 0 {
		t.Fatalf("nothing is cleared after the pause: %+v", cleared.Report)
	}
	book := ledger.New(s, keep)
	if n, err := book.Restore(cleared.Report.Decision); err != nil || n != cleared.Report.Cleared {
		t.Fatalf("%d of %d edits are taken back: %v", n, cleared.Report.Cleared, err)
	}
	first := ask(41)
	if r := first.Report; first.Changed || !r.Broke || fmt.Sprint(r.Causes) != string(event.CodeRestored) {
		t.Errorf("after it %d edits hold: %+v", len(first.Changes()), r)
	}
	p = start(s)
	for calls := 42; calls < 50; calls++ {
		if out := ask(calls); out.Changed {
			t.Errorf("of %d results %d are not sent whole", calls, len(out.Changes()))
		}
	}
	last := ask(80)
	if last.Report.Cleared+last.Report.Compacted == 0 || bytes.Contains(last.Body, []byte("part 1 is well. part 1 is")) {
		t.Errorf("what does not fit is sent whole: %+v", last.Report)
	}
	if n, err := book.Restore(last.Report.Decision); err != nil || n == 0 {
		t.Fatalf("%d edits are taken back: %v", n, err)
	}
	again := ask(80)
	if r := again.Report; r.TokensAfter.Total() > r.Usable || r.Code == event.CodeAgain {
		t.Errorf("repeated after it, %d of %d tokens are sent: %s", r.TokensAfter.Total(), r.Usable, r.Code)
	}
	if once := ask(80); !bytes.Equal(once.Body, again.Body) {
		t.Errorf("the same request is sent otherwise: %+v", once.Report)
	}
}
