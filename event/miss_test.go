package story

import (
	"testing"
	"time"

	"epitome/event"
)

func TestFirstCauseOfAMissCounts(t *testing.T) {
	f := func(want event.Miss, change func(e *event.Exchange)) {
		t.Helper()
		r := begin(t)
		r.RecordExchange(talking("c1", 0))
		e := talking("c1", 1)
		e.Usage.Read = 0
		change(&e)
		r.RecordExchange(e)
		s, _ := r.Conversation("c1")
		if got := s.Exchanges[1].Miss; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(event.NoMiss, func(e *event.Exchange) { e.Usage.Read = 2400 })
	f(event.MissModel, func(e *event.Exchange) { e.Model, e.Start = "n", e.Start.Add(time.Hour) })
	f(event.MissPause, func(e *event.Exchange) { e.Start, e.Broke = e.Start.Add(time.Hour), true })
	f(event.MissOurs, func(e *event.Exchange) { e.Broke, e.Leading = true, "other" })
	f(event.MissLeading, func(e *event.Exchange) { e.Leading, e.Diverged = "other", 2 })
	f(event.MissClient, func(e *event.Exchange) { e.Diverged = 2 })
	f(event.MissProvider, func(e *event.Exchange) { e.Usage.Read = 2399 })
	f(event.NoMiss, func(e *event.Exchange) { e.HeldBefore, e.HeldAfter, e.Usage.Read = 4000, 1000, 800 })
	f(event.MissUnknown, func(e *event.Exchange) { e.Usage.CacheUnknown = true })
	f(event.MissProvider, func(e *event.Exchange) { // what was sent is what counts
		e.Mode, e.Broke = event.ModeObserve, true
	})
}
