package event

import (
	"testing"
	"time"
)

// answered is a request of a conversation that was answered, some minutes after its beginning.
func answered(minutes int) *Exchange {
	e := asked("openai", "mine", 4000, 3000)
	e.Start = e.Start.Add(time.Duration(minutes) * time.Minute)
	e.Conversation, e.ShapeTime = "c1", time.Millisecond
	e.Usage.Read = 2800
	return e
}

func TestFirstCauseOfAMissCounts(t *testing.T) {
	f := func(want Miss, change func(e *Exchange)) {
		t.Helper()
		b, before, e := biller(), answered(0), answered(1)
		b.Bill(before, nil)
		e.Usage.Read = 0
		change(e)
		b.Bill(e, before)
		if e.Miss != want {
			t.Errorf("got %q, want %q", e.Miss, want)
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
	var before *Exchange // epitome is not blamed where the provider may have no cache
	for turn := range 3 {
		e := answered(turn)
		e.Usage.Read, e.Broke = 0, true
		biller().Bill(e, before)
		if turn > 0 && e.Miss != MissUnknown {
			t.Errorf("got %+v", e)
		}
		before = e
	}
	f(MissProvider, func(e *Exchange) { // what was sent is what counts
		e.Mode, e.Broke = ModeObserve, true
	})
}
