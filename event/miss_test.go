package event

import (
	"testing"
	"time"
)

func TestFirstCauseOfAMissCounts(t *testing.T) {
	f := func(want Miss, change func(e *Exchange)) {
		t.Helper()
		r := begin(t)
		r.RecordExchange(new(talking("c1", 0)))
		e := talking("c1", 1)
		e.Usage.Read = 0
		change(&e)
		r.RecordExchange(new(e))
		s, _ := r.Conversation("c1")
		if got := s.Exchanges[1].Miss; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(NoMiss, func(e *Exchange) { e.Usage.Read = 2400 })
	f(MissModel, func(e *Exchange) { e.Model, e.Start = "n", e.Start.Add(time.Hour) })
	f(MissPause, func(e *Exchange) { e.Start, e.Broke = e.Start.Add(time.Hour), true })
	f(MissOurs, func(e *Exchange) { e.Broke, e.Leading = true, "other" })
	f(MissTools, func(e *Exchange) { e.Leading, e.TokensBefore.Tools = "other", 9 })
	f(MissLeading, func(e *Exchange) { e.Leading, e.Diverged = "other", 2 })
	f(MissClient, func(e *Exchange) { e.Diverged = 2 })
	f(MissProvider, func(e *Exchange) { e.Usage.Read = 2399 })
	f(NoMiss, func(e *Exchange) { e.HeldBefore, e.HeldAfter, e.Usage.Read = 4000, 1000, 800 })
	f(MissUnknown, func(e *Exchange) { e.Usage.CacheUnknown = true })
	// Since the last request, epitome has learned how the provider counts.
	for read, want := range map[int]Miss{2400: NoMiss, 2399: MissProvider} {
		f(want, func(e *Exchange) {
			e.TokensBefore, e.TokensAfter = Tokens{Results: 5600}, Tokens{Results: 4200} // of the provider's 6,000
			e.HeldBefore, e.HeldAfter, e.Usage.Input, e.Usage.Read = 2800, 2100, 6000, read
		})
	}
	r := begin(t) // epitome is not blamed where the provider may have no cache
	for turn := range 3 {
		e := talking("c1", turn)
		e.Usage.Read, e.Broke = 0, true
		r.RecordExchange(new(e))
	}
	if s, _ := r.Conversation("c1"); s.Exchanges[1].Miss != MissUnknown || s.Exchanges[2].Miss != MissUnknown {
		t.Errorf("got %+v", s.Exchanges)
	}
	f(MissProvider, func(e *Exchange) { // what was sent is what counts
		e.Mode, e.Broke = ModeObserve, true
	})
}
