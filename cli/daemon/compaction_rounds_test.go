package daemon

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// continued holds a question against what the provider had been sent before: up to the instruction it is the
// beginning of that. What comes behind that beginning stays in what is sent next.
func continued(t *testing.T, q, before, next heard) {
	t.Helper()
	cut := instructed(q)
	if q.way != "continue" || cut < 0 || !bytes.HasPrefix(before.body, q.body[:cut]) {
		t.Fatalf("the question (%s) does not begin as what was sent before: %s", q.way, differ(q.body[:max(cut, 0)], before.body))
	}
	tail := said(before)[cut:]
	if len(tail) < 1000 || !bytes.Contains(next.body, tail) {
		t.Errorf("of the %d bytes behind what was asked about not all are sent", len(tail))
	}
	if q.ToolChoice != "none" || !bytes.Equal(q.Tools, before.Tools) || q.MaxTokens <= 0 || q.MaxTokens > itsWindow/4 ||
		q.Stream {
		t.Errorf("the question has tool_choice %v, max_tokens %d, stream %v and tools %s", q.ToolChoice, q.MaxTokens, q.Stream, q.Tools)
	}
}

// instructed is where the instruction begins that ends a question of this kind; -1 if there is none.
func instructed(q heard) int {
	return bytes.LastIndex(q.body, []byte(`,{"role":"user","content":"This is not the user but the program`))
}

// said is a request up to its last message.
func said(h heard) []byte { return h.body[:bytes.LastIndex(h.body, []byte(`],"temperature"`))] }

// differ shows where two texts part.
func differ(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(i-60, 0)
	return fmt.Sprintf("\n%s\n%s", a[from:min(i+60, len(a))], b[from:min(i+60, len(b))])
}

// Round by round a model's words stand for what is old: asked for with what its provider has cached, updated by the
// next question, and repeated byte for byte, also by an epitome that was started anew.
func TestRoundsOfSummariesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	p, folder := providing(t, itsWindow, itsUsable), t.TempDir()
	r := served(p, folder, asDefault)
	a := working(r)
	for round := 1; round <= 4; round++ {
		a.nears()
		p.wants(round - 1)
		before := p.last()
		got := a.ask()
		p.wants(round)
		sent := p.last()
		continued(t, p.questions()[round-1], before, sent)
		if got.action != "compact" || sent.tokens > itsUsable/2 || !bytes.Contains(sent.body, []byte(markOf(round))) {
			t.Fatalf("round %d: %s of %d tokens: %s", round, got.action, sent.tokens, sent.Messages[1].text())
		}
		asks := p.questions()[round-1]
		if updates := strings.Contains(asks.said(), "An earlier summary stands near the beginning"); updates != (round > 1) ||
			round > 1 && (!bytes.Contains(asks.body, []byte(markOf(round-1))) ||
				bytes.Contains(sent.body, []byte(markOf(round-1)))) {
			t.Errorf("round %d is no update of the one before", round)
		}
		r.logs(`msg=compaction_completed .* reason=threshold mode=hybrid`)
		if round%2 == 1 {
			r.stops()
			r = served(p, folder, asDefault)
			a.url = r.url
		}
		a.ask()
		if again := p.last(); !bytes.Equal(again.body, sent.body) {
			t.Fatalf("round %d: sent again, it is another: %s", round, differ(sent.body, again.body))
		}
		p.wants(round)
		a.turn()
		if next := p.last(); !bytes.HasPrefix(next.body, said(sent)) {
			t.Fatalf("round %d: the next request does not extend it: %s", round, differ(sent.body, next.body))
		}
	}
}
