package daemon

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/internal/unit"
)

// comesBack starts a daemon over what the last one has left, and has the agent send the same again: there is a
// summary now, the n-th.
func comesBack(p *provider, a *worker, folder string, n int) {
	p.t.Helper()
	r := served(p, folder, asDefault)
	a.url = r.url
	p.will(summing)
	if got := a.ask(); got.action != "compact" || !bytes.Contains(p.last().body, []byte(markOf(n))) {
		p.t.Errorf("%s without a summary", got.action)
	}
	p.wants(n)
	sent := p.last()
	a.turn()
	if a.turn(); !bytes.HasPrefix(p.last().body, said(sent)) {
		p.t.Errorf("what was sent is changed: %s", differ(sent.body, p.last().body))
	}
	r.stops()
}

// A summary that nobody waits for holds no end up, however long the grace is.
func TestStoppingEndsASummaryThatNobodyWaitsFor(t *testing.T) {
	p, folder := providing(t, itsWindow, itsUsable), t.TempDir()
	gone := make(chan struct{})
	r := served(p, folder, func(c *config.Config) { c.Proxy.ShutdownGrace = unit.Duration(time.Hour) })
	a := working(r)
	a.nears()
	p.will(func(w http.ResponseWriter, r *http.Request, q heard) {
		p.held(nil, nil)(w, r, q)
		close(gone)
	})
	ctx, leave := context.WithCancel(t.Context())
	left := a.sends(ctx)
	p.awaits(1)
	leave()
	<-left
	if !scriptedtest.Eventually(func() bool { return r.proxy.InFlight() == 0 }) {
		t.Fatal("it waits for a client that has left")
	}
	r.stops()
	<-gone // the provider is told
	r.logs(`msg=stopped`)
	comesBack(p, a, folder, 2)
}

// A request that waits for a summary is cut when the grace is over, and has gone nowhere.
func TestStoppingCutsWhoWaitsForASummary(t *testing.T) {
	t.Parallel()
	p, folder := providing(t, itsWindow, itsUsable), t.TempDir()
	r := served(p, folder, func(c *config.Config) { c.Proxy.ShutdownGrace = unit.Duration(200 * time.Millisecond) })
	a := working(r)
	a.nears()
	p.will(p.held(nil, nil))
	already := len(p.sent())
	waits := a.sends(t.Context())
	p.awaits(1)
	r.stops()
	if got := <-waits; got.err == nil {
		t.Errorf("it got %+v", got)
	}
	if n := len(p.sent()) - already; n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	comesBack(p, a, folder, 2)
}

// Within the grace the summary may come, and the request goes on with it.
func TestStoppingLetsASummaryComeWithinTheGrace(t *testing.T) {
	p, folder := providing(t, itsWindow, itsUsable), t.TempDir()
	r := served(p, folder, asDefault)
	a := working(r)
	a.nears()
	release := make(chan struct{})
	p.will(p.held(release, summing))
	waits := a.sends(t.Context())
	p.awaits(1)
	go func() {
		scriptedtest.Eventually(r.proxy.Stopping)
		close(release)
	}()
	r.stops()
	if got := <-waits; got.err != nil || got.status != http.StatusOK || got.action != "compact" ||
		!bytes.Contains(p.last().body, []byte(markOf(1))) {
		t.Errorf("got %+v", got)
	}
	if strings.Contains(r.log.String(), "cutting") {
		t.Errorf("it was cut:\n%s", r.log)
	}
	comesBack(p, a, folder, 1)
}
