package metrics

import (
	"testing"
	"time"

	"epitome/event"
	"epitome/event/eventtest"
)

func TestTotalsAddUpAllExchanges(t *testing.T) {
	m := New(func() int { return 3 })
	f := func(upstream, mode string, shapeTime time.Duration, want Totals) {
		t.Helper()
		e := eventtest.Exchange()
		e.Upstream, e.Mode, e.ShapeTime = upstream, mode, shapeTime
		e.TokensBefore, e.TokensAfter = event.Tokens{System: 100, Results: 900}, event.Tokens{System: 100, Other: 200}
		m.RecordExchange(e)
		if got := m.Totals(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if got, want := m.Totals(), (Totals{InFlight: 3}); got != want {
		t.Errorf("at the start: got %+v, want %+v", got, want)
	}
	f("a", event.ModeOn, time.Second, Totals{1, 3, 1000, 300, false, 0, 0, 1000, 300})
	f("b", event.ModeOn, 0, Totals{2, 3, 1000, 300, false, 0, 0, 1000, 300}) // no conversation
	f("b", event.ModeOff, time.Second, Totals{3, 3, 1000, 300, false, 0, 0, 1000, 300})
	f("b", event.ModeObserve, time.Second, Totals{4, 3, 2000, 600, true, 0, 0, 1000, 300})
	f("a", event.ModeOn, time.Second, Totals{5, 3, 3000, 900, true, 0, 0, 1000, 300})
	given := eventtest.Exchange()
	given.ShapeTime, given.Added, given.Memory = time.Second, 120, 100
	m.RecordExchange(given)
	m.RecordExchange(given)
	if got := m.Totals(); got.Added != 240 || got.Memory != 200 {
		t.Errorf("%d tokens are added, %d of them a memory", got.Added, got.Memory)
	}
	larger := eventtest.Exchange()
	larger.ShapeTime, larger.TokensBefore = time.Second, event.Tokens{Results: 5000}
	larger.TokensAfter = event.Tokens{Results: 1200}
	m.RecordExchange(larger)
	if got := m.Totals(); got.LargestBefore != 5000 || got.LargestAfter != 1200 {
		t.Errorf("the largest request is told as %d to %d", got.LargestBefore, got.LargestAfter)
	}
}
