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
	f("a", event.ModeOn, time.Second, Totals{1, 3, 1000, 300, false})
	f("b", event.ModeOn, 0, Totals{2, 3, 1000, 300, false}) // no conversation
	f("b", event.ModeOff, time.Second, Totals{3, 3, 1000, 300, false})
	f("b", event.ModeObserve, time.Second, Totals{4, 3, 2000, 600, true})
	f("a", event.ModeOn, time.Second, Totals{5, 3, 3000, 900, true})
}

func TestHowEventsAreKeptIsAmongTheMetrics(t *testing.T) {
	m := New(idle)
	m.Watch(func() uint64 { return 3 }, func() int { return 2 })
	got := samples(t, m)
	if got["epitome_events_dropped_total"] != "3" || got["epitome_event_watchers"] != "2" {
		t.Errorf("got %v", got)
	}
}
