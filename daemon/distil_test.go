package daemon

import (
	"bytes"
	"net/http"
	"testing"

	"epitome/config"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/summarize"
)

// distilling has large results told by a small model before they are cleared, which is soon.
func distilling(c *config.Config) {
	c.Summarize.Distill, c.Summarize.Model, c.Summarize.Prepare = true, "small", summarize.PrepareOn
	soon(c)
}

// soon has results cleared soon, and none of them cut before.
func soon(c *config.Config) {
	l := &c.Rewrite
	l.Rent, l.Protect, l.Groups, l.ClearAt, l.ClearAtLeast = 0, 200, 2, .4, 100
	l.OffloadReads, l.Offload = 30_000, 30_000
}

const whatAModelWrote = "\\nA model noted about it, maybe wrongly:\\n"

// clears works until results are cleared. Before each turn, what is asked in the background is answered.
func (a *worker) clears(r *inService) {
	a.t.Helper()
	a.lines = 150
	for range 40 {
		if a.turn().action == "clear" {
			return
		}
		r.rests()
	}
	a.t.Fatal("nothing is ever cleared")
}

// rests waits until all that was asked in the background is answered.
func (r *inService) rests() {
	r.t.Helper()
	if !scriptedtest.Eventually(func() bool { return r.shapers.summariser.Underway() == 0 }) {
		r.t.Fatal("what is asked is never answered")
	}
}

// A small model is asked with the client's credential, and paid for; what it says is sent, again and again, and over a
// restart.
func TestResultsAreDistilledByTheConfiguredModel(t *testing.T) {
	p := providing(t, itsWindow, itsUsable)
	p.will(func(w http.ResponseWriter, r *http.Request, q heard) {
		says(message("assistant", "All functions of the part are there, and none is odd."), q.tokens)(w, r, q)
	})
	folder := t.TempDir()
	r := served(p, folder, distilling)
	a := working(r)
	a.clears(r)
	sent := p.last().body
	if !bytes.Contains(sent, []byte(whatAModelWrote)) || !bytes.Contains(sent, []byte(`\n| All functions of the part are there`)) {
		t.Errorf("no distillate is sent, of %d that were made", len(p.questions()))
	}
	for _, q := range p.questions() {
		if q.Model != "small" || q.key != agentsKey || q.way != "transcript" {
			t.Errorf("%s is asked with %q, %s", q.Model, q.key, q.way)
		}
	}
	r.logs(`level=INFO msg=summary_completed .* model=small detail=distillate way=transcript prepared=true .* requests=1 .*input_tokens=[1-9]`)
	r.rests() // the last turn may have asked for more
	asked := len(p.questions())
	r.stops()
	again := served(p, folder, soon) // off by now: what was decided stays
	a.url = again.url
	if _, err := a.send(t.Context(), a.asked); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(p.last().body, sent) || len(p.questions()) != asked {
		t.Error("after a restart, another body is sent")
	}
}
