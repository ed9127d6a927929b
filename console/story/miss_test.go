package story

import (
	"testing"
	"time"

	"epitome/event"
)

func TestFirstCauseOfAMissCounts(t *testing.T) {
	f := func(want event.Miss, change func(e *event.Exchange)) {
		t.Helper()
		r := begin(t, nil)
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

func TestFirstRequestHasNothingToHit(t *testing.T) {
	f := func(read int, want event.Miss) {
		t.Helper()
		r := begin(t, nil)
		e := talking("c1", 0)
		e.Usage.Read = read
		r.RecordExchange(e)
		if s, _ := r.Conversation("c1"); s.Exchanges[0].Miss != want {
			t.Errorf("with %d tokens read it is %q, want %q", read, s.Exchanges[0].Miss, want)
		}
	}
	f(0, event.MissFirst)
	f(2900, event.NoMiss) // it began as another one did
}

// What is below the least that providers cache was never there to be found, whatever comes behind it.
func TestWhatWasTooSmallIsNoMissOfTheProvider(t *testing.T) {
	f := func(tokens int, want event.Miss) {
		t.Helper()
		r := begin(t, nil)
		small := talking("c1", 0)
		small.TokensAfter = event.Tokens{User: tokens}
		r.RecordExchange(small)
		e := talking("c1", 1)
		e.HeldBefore, e.HeldAfter, e.Usage.Read = small.TokensBefore.Total(), tokens, 0
		r.RecordExchange(e)
		if s, _ := r.Conversation("c1"); s.Exchanges[1].Miss != want {
			t.Errorf("behind %d tokens it is %q, want %q", tokens, s.Exchanges[1].Miss, want)
		}
	}
	f(1023, event.MissSmall)
	f(1024, event.MissProvider)
}

func TestForkIsComparedWithWhatItHasLeft(t *testing.T) {
	f := func(parent string, want event.Miss) {
		t.Helper()
		r := begin(t, nil)
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

func TestRefusedRequestsLeaveNothingInTheCache(t *testing.T) {
	r := begin(t, nil)
	e := talking("c1", 0)
	e.Status = 500
	r.RecordExchange(e)
	next := talking("c1", 1)
	next.Usage.Read = 0
	r.RecordExchange(next)
	s, _ := r.Conversation("c1")
	if s.Exchanges[0].Miss != event.NoMiss || s.Exchanges[1].Miss != event.MissFirst || s.Exchanges[1].Turn != 2 {
		t.Errorf("got %q, then %q in turn %d", s.Exchanges[0].Miss, s.Exchanges[1].Miss, s.Exchanges[1].Turn)
	}
}
