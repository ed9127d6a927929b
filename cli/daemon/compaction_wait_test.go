package daemon

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	"epitome/config"
	"epitome/internal/fakeapi/scriptedtest"
)

// awaits wants so many questions to have reached the provider in the end.
func (p *provider) awaits(questions int) {
	p.t.Helper()
	if !scriptedtest.Eventually(func() bool { return len(p.questions()) >= questions }) {
		p.t.Fatalf("%d questions were asked, want %d", len(p.questions()), questions)
	}
	p.wants(questions)
}

// Many may send one conversation at the same time: one question is asked, and all of them are sent alike.
func TestManyAtTheLineAskOnce(t *testing.T) {
	t.Parallel()
	p := providing(t, itsWindow, itsUsable)
	r := served(p, t.TempDir(), asDefault)
	a := working(r)
	a.nears()
	release, already := make(chan struct{}), len(p.sent())
	p.will(p.held(release, summing))
	var all []<-chan outcome
	const atOnce = 50
	for range atOnce {
		all = append(all, a.sends(t.Context()))
	}
	if !scriptedtest.Eventually(func() bool { return r.proxy.InFlight() == atOnce }) {
		t.Errorf("%d of them are under way", r.proxy.InFlight())
	}
	p.awaits(1)
	if n := len(p.sent()) - already; n != 0 {
		t.Errorf("%d did not wait", n)
	}
	close(release)
	for _, one := range all {
		if got := <-one; got.err != nil || got.status != http.StatusOK || got.action != "compact" {
			t.Fatalf("got %+v", got)
		}
	}
	p.wants(1)
	sent := p.sent()[already:]
	if len(sent) != atOnce {
		t.Errorf("%d of %d requests were sent", len(sent), atOnce)
	}
	for _, h := range sent {
		if !bytes.Equal(h.body, sent[0].body) || !bytes.Contains(h.body, []byte(markOf(1))) {
			t.Fatalf("one is sent otherwise: %s", differ(sent[0].body, h.body))
		}
	}
	if a.turn(); !bytes.HasPrefix(p.last().body, said(sent[0])) {
		t.Error("the next request does not extend them")
	}
	if a.turn(); !bytes.HasPrefix(p.last().body, said(sent[0])) {
		t.Error("the one after it does not extend them")
	}
	p.wants(1)
}

// A client that gives up early sends nothing upstream, and what was asked for it is there when it comes again.
func TestSummaryIsMadeForAClientThatHasLeft(t *testing.T) {
	p := providing(t, itsWindow, itsUsable)
	r := served(p, t.TempDir(), asDefault)
	a := working(r)
	a.nears()
	release, already := make(chan struct{}), len(p.sent())
	p.will(p.held(release, summing))
	for range 3 { // as SDKs do
		ctx, leave := context.WithCancel(t.Context())
		left := a.sends(ctx)
		if !scriptedtest.Eventually(func() bool { return r.proxy.InFlight() == 1 }) {
			t.Fatal("it is not under way")
		}
		p.awaits(1)
		leave()
		if got := <-left; got.err == nil {
			t.Errorf("it got %+v", got)
		}
		if !scriptedtest.Eventually(func() bool { return r.proxy.InFlight() == 0 }) {
			t.Fatal("it waits for a client that has left")
		}
	}
	if n := len(p.sent()) - already; n != 0 {
		t.Errorf("%d requests were sent for a client that had left", n)
	}
	close(release)
	r.logs(`level=INFO msg=summary_completed`)
	if got := a.ask(); got.action != "compact" || !bytes.Contains(p.last().body, []byte(markOf(1))) {
		t.Errorf("%s without the summary that was made", got.action)
	}
	p.wants(1)
	if n := len(p.sent()) - already; n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// What comes too late for the request it was asked for changes nothing that was sent, and is what the next summary
// updates.
func TestLateSummaryCountsForTheNextOne(t *testing.T) {
	t.Parallel()
	f := func(prepare string, early int) {
		t.Helper()
		p := providing(t, itsWindow, itsUsable)
		r := served(p, t.TempDir(), func(c *config.Config) {
			c.Summarize.Prepare, c.Summarize.Limits = prepare, summaryLimits(briefly, 3)
		})
		a := working(r)
		release := make(chan struct{})
		p.will(p.held(release, summing))
		a.nears()
		if early > 0 {
			p.awaits(early)
		}
		a.ask()
		sent := p.last()
		if bytes.Contains(sent.body, []byte(markOf(1))) || !bytes.Contains(sent.body, []byte("[epitome: summary ")) {
			t.Errorf("prepare %s: it waits for a summary", prepare)
		}
		close(release)
		r.logs(`level=INFO msg=summary_completed`)
		r.reloads(func(c *config.Config) { c.Summarize.Limits = summaryLimits(scriptedtest.Patience, 3) })
		p.wants(1)
		if a.ask(); !bytes.Equal(p.last().body, sent.body) {
			t.Errorf("prepare %s: sent again, it is another: %s", prepare, differ(sent.body, p.last().body))
		}
		a.nears()
		if !bytes.HasPrefix(p.last().body, said(sent)) {
			t.Errorf("prepare %s: what was sent is changed: %s", prepare, differ(sent.body, p.last().body))
		}
		a.ask()
		p.wants(2)
		if q := p.questions()[1]; !bytes.Contains(q.body, []byte(markOf(1))) {
			t.Errorf("prepare %s: the next question (%s) does not know of the summary that came late", prepare, q.way)
		}
		if !bytes.Contains(p.last().body, []byte(markOf(2))) {
			t.Errorf("prepare %s: the next summary is not there", prepare)
		}
	}
	f("off", 0)
	f("on", 1)
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
