package daemon

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"epitome/config"
	"epitome/internal/fakeapi"
)

// A client may have its conversation compacted when it wants, and say what of.
func TestCompactingNowOverTheWire(t *testing.T) {
	t.Parallel()
	f := func(mode string, questions int) {
		t.Helper()
		p := providing(t, itsWindow, itsUsable)
		r := served(p, t.TempDir(), asDefault)
		a := working(r)
		a.reaches(itsUsable / 2)
		before := p.last()
		a.header.Set("x-epitome-compact", "now")
		if mode != "" {
			a.header.Set("x-epitome-set", "summarize_mode="+mode)
		}
		got := a.ask()
		sent := p.last()
		p.wants(questions)
		if got.action != "compact" || sent.tokens >= before.tokens ||
			bytes.Contains(sent.body, []byte(byModel)) != (questions > 0) {
			t.Errorf("mode %q: %s to %d tokens: %s", mode, got.action, sent.tokens, sent.Messages[1].text())
		}
		if questions > 0 {
			continued(t, p.questions()[0], before, sent)
		}
		r.logs(`msg=compaction_completed .* reason=manual `)
		r.logs(`msg=exchange .* causes=asked_for`)
		a.react(got)
		a.header = http.Header{}
		if a.ask(); !bytes.HasPrefix(p.last().body, said(sent)) {
			t.Errorf("mode %q: the next request does not extend it: %s", mode, differ(sent.body, p.last().body))
		}
		p.wants(questions)
		a.header.Set("x-epitome-compact", "yes")
		if bad, err := a.send(t.Context(), a.body()); err != nil || bad.status != http.StatusBadRequest ||
			!strings.Contains(bad.text, "epitome_error") {
			t.Errorf("mode %q: got %+v, %v", mode, bad, err)
		}
	}
	f("", 1)
	f("llm", 1)
	f("intent", 0)
	f("window", 0)
	f("lossless", 0)
}

// Who only looks on sends what came, and asks nobody.
func TestObservingAsksNobody(t *testing.T) {
	t.Parallel()
	f := func(change func(*config.Config), header http.Header) {
		t.Helper()
		p := providing(t, itsWindow, itsUsable)
		r := served(p, t.TempDir(), func(c *config.Config) {
			c.Summarize.Prepare = "on"
			change(c)
		})
		a := working(r)
		a.header = header
		would := false
		for len(p.sent()) == 0 || p.last().tokens < itsLine {
			would = a.turn().action == "compact"
			if !bytes.Equal(p.last().body, a.asked) {
				t.Fatalf("another body is sent: %s", differ(a.asked, p.last().body))
			}
		}
		p.wants(0)
		if !would {
			t.Error("it was not told that it would be compacted")
		}
		if strings.Contains(r.log.String(), "msg=summary_") || strings.Contains(r.log.String(), "msg=compaction_") {
			t.Errorf("the log tells of what has not happened:\n%s", r.log)
		}
	}
	f(func(c *config.Config) { c.Mode = "observe" }, http.Header{})
	f(asDefault, http.Header{"X-Epitome-Mode": {"observe"}})
	f(func(c *config.Config) { c.Mode = "observe" }, http.Header{"X-Epitome-Compact": {"now"}})
}

// awaits wants so many questions to have reached the provider in the end.
func (p *provider) awaits(questions int) {
	p.t.Helper()
	if !fakeapi.Eventually(func() bool { return len(p.questions()) >= questions }) {
		p.t.Fatalf("%d questions were asked, want %d", len(p.questions()), questions)
	}
	p.wants(questions)
}

// What is made ahead of need is there at the line: nobody waits for it, and nothing is asked again.
func TestPreparedSummaryIsThereAtTheLine(t *testing.T) {
	p := providing(t, itsWindow, itsUsable)
	r := served(p, t.TempDir(), func(c *config.Config) { c.Summarize.Prepare = "on" })
	a := working(r)
	release := make(chan struct{})
	p.will(p.held(release, summing))
	a.reaches(itsUsable * 8 / 10)
	p.wants(0)
	a.turn()
	p.awaits(1) // and the agent's own request was answered
	before := p.last()
	a.turn()
	a.turn()
	p.wants(1)
	if a.after < itsUsable*8/10 || a.after > itsLine {
		t.Fatalf("there are %d tokens", a.after)
	}
	close(release)
	r.logs(`level=INFO msg=summary_completed .* prepared=true`)
	a.nears()
	p.will(status(http.StatusTeapot, "nothing more is told"))
	got := a.ask()
	p.wants(1)
	if got.action != "compact" || p.last().tokens > itsUsable/2 || !bytes.Contains(p.last().body, []byte(markOf(1))) {
		t.Errorf("%s without the summary that was there, %d tokens", got.action, p.last().tokens)
	}
	r.logs(`level=INFO msg=compaction_completed .* mode=hybrid .* prepared=true`)
	continued(t, p.questions()[0], before, p.last())
}
