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
	f(event.MissClient, func(e *event.Exchange) { e.Diverged, e.TokensAfter = 2, event.Tokens{} })
	f(event.MissClient, func(e *event.Exchange) { e.HeldBefore = 3199 })
	f(event.MissSmall, func(e *event.Exchange) { e.TokensAfter, e.Usage = event.Tokens{User: 1023}, event.Usage{} })
	f(event.MissProvider, func(e *event.Exchange) { e.Usage.Read = 2399 })
	f(event.NoMiss, func(e *event.Exchange) { e.HeldBefore, e.HeldAfter, e.Usage.Read = 4000, 1000, 800 })
	f(event.MissProvider, func(e *event.Exchange) { e.HeldBefore, e.HeldAfter, e.Usage.Read = 4000, 1000, 799 })
	f(event.MissUnknown, func(e *event.Exchange) { e.Usage.CacheUnknown = true })
	f(event.MissUnknown, func(e *event.Exchange) { e.Usage.Source = event.UsageCounted })
	f(event.NoMiss, func(e *event.Exchange) { e.Status, e.Broke = 429, true })
	f(event.MissProvider, func(e *event.Exchange) { // what was sent is what counts
		e.Mode, e.Broke = event.ModeObserve, true
	})
}

func TestForkIsComparedWithWhatItHasLeft(t *testing.T) {
	f := func(parent string, want event.Miss) {
		t.Helper()
		r := begin(t)
		r.RecordExchange(talking("c1", 0))
		e := talking("c2", 1)
		e.Parent, e.Diverged, e.Usage.Read = parent, 3, 0
		r.RecordExchange(e)
		next := talking("c2", 2)
		next.Usage.Read = 0
		r.RecordExchange(next)
		s, _ := r.Conversation("c2")
		if s.Exchanges[0].Miss != want || s.Exchanges[1].Miss != event.MissProvider || s.Parent != parent {
			t.Errorf("of %q it is %q, then %q", parent, s.Exchanges[0].Miss, s.Exchanges[1].Miss)
		}
	}
	f("c1", event.MissClient)
	f("c9", event.MissFirst) // which is not kept any more
}
