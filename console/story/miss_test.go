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
		small.TokensAfter, small.Usage.Input = event.Tokens{User: tokens}, tokens
		r.RecordExchange(small)
		e := talking("c1", 1)
		e.HeldBefore, e.HeldAfter, e.Usage.Read = int32(small.TokensBefore.Total()), int32(tokens), 0
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

// Whatever the provider counts by, a cache that had what was sent before is a hit, and one that had not is none.
func TestTokensOfTheProviderAreComparedWithItsOwn(t *testing.T) {
	f := func(first, input, read int, want event.Miss, held int) {
		t.Helper()
		r := begin(t, nil)
		before := talking("c1", 0)
		before.Usage.Input = first
		r.RecordExchange(before)
		e := talking("c1", 1)
		e.TokensBefore.Results, e.TokensAfter.Results = 4900, 3900 // of 4000 that went on, 3000 stood there before
		e.HeldBefore, e.HeldAfter, e.Usage.Input, e.Usage.Read = 4000, 3000, input, read
		r.RecordExchange(e)
		s, _ := r.Conversation("c1")
		if got := s.Exchanges[1].Miss; got != want || s.CountHeld(1) != held {
			t.Errorf("of %d it had %d: %q, want %q; it could have had %d, want %d", first, read, got, want, s.CountHeld(1), held)
		}
	}
	f(1830, 2440, 1792, event.NoMiss, 1830) // it counts 39 % fewer than is counted here
	f(1830, 2440, 1463, event.MissProvider, 1830)
	f(6000, 8000, 5900, event.NoMiss, 6000)
	f(6000, 8000, 3000, event.MissProvider, 6000) // as many as were counted here
	f(1830, 3600, 1792, event.NoMiss, 1830)       // what is new it counts otherwise
	f(900, 1200, 0, event.MissSmall, 900)
}

// What the same messages are counted as may change when answers show another ratio. The client changed nothing.
func TestLearnedRatioIsNoChangeByTheClient(t *testing.T) {
	f := func(before, now float64, held int32, want event.Miss) {
		t.Helper()
		r := begin(t, nil)
		first := talking("c1", 0)
		first.Ratio = before
		r.RecordExchange(first)
		e := talking("c1", 1)
		e.Ratio, e.HeldBefore, e.HeldAfter, e.Usage.Read = now, held, 3000, 0
		r.RecordExchange(e)
		if s, _ := r.Conversation("c1"); s.Exchanges[1].Miss != want {
			t.Errorf("from %v to %v with %d tokens held it is %q, want %q", before, now, held, s.Exchanges[1].Miss, want)
		}
	}
	f(0, 0.6, 2400, event.MissProvider)
	f(0.6, 0, 2400, event.MissProvider) // forgotten again
	f(1, 0.6, 2400, event.MissProvider)
	f(1, 0.6, 1900, event.MissClient)
	f(0.6, 1, 6600, event.MissProvider)
	f(0.6, 1, 4000, event.MissClient)
	f(0.6, 0.6, 2400, event.MissClient)
}

// What was refused is in no cache: the next request finds what the last one that was answered has left.
func TestRequestBehindARefusedOneFindsWhatWasAnswered(t *testing.T) {
	f := func(read int, change func(refused *event.Exchange), want event.Miss) {
		t.Helper()
		r := begin(t, nil)
		r.RecordExchange(talking("c1", 0))
		refused := talking("c1", 1)
		refused.Status, refused.Usage = 429, event.Usage{}
		change(&refused)
		r.RecordExchange(refused)
		e := talking("c1", 2)
		e.TokensBefore.Results, e.TokensAfter.Results = 9900, 8900
		e.HeldBefore, e.HeldAfter, e.Usage.Input, e.Usage.Read = 10_000, 9000, 9000, read
		r.RecordExchange(e)
		s, _ := r.Conversation("c1")
		if got := s.Exchanges[2].Miss; got != want || s.CountHeld(2) != 3000 {
			t.Errorf("with %d read it is %q, want %q; it could have had %d, want 3000", read, got, want, s.CountHeld(2))
		}
	}
	as := func(*event.Exchange) {}
	f(2800, as, event.NoMiss)
	f(2399, as, event.MissProvider)
	f(0, func(refused *event.Exchange) { refused.Broke = true }, event.MissOurs)
	f(0, func(refused *event.Exchange) { refused.Broke, refused.Mode = true, event.ModeObserve }, event.MissProvider)
}

// What a provider says that its cache had, it could have had, though less was counted here.
func TestCacheCouldHaveHadWhatItHad(t *testing.T) {
	r := begin(t, nil)
	for minute := range 2 {
		e := talking("c1", minute)
		e.HeldBefore, e.HeldAfter, e.Usage.Read = 3500, 2000, 2560
		r.RecordExchange(e)
	}
	if s, _ := r.Conversation("c1"); s.CountHeld(1) != 2560 {
		t.Errorf("it had 2560 tokens, and could have had %d", s.CountHeld(1))
	}
}

// In mode observe a request goes as it came, and so does what the cache keeps of it.
func TestWatchedRequestCouldHaveHadWhatCame(t *testing.T) {
	r := begin(t, nil)
	for minute := range 2 {
		e := talking("c1", minute)
		e.Mode, e.HeldBefore, e.HeldAfter, e.Usage.Input, e.Usage.Read = event.ModeObserve, 3900, 1000, 8000, 2000
		r.RecordExchange(e)
	}
	if s, _ := r.Conversation("c1"); s.Exchanges[1].Miss != event.MissProvider || s.CountHeld(1) != 7800 {
		t.Errorf("it is %q, and could have had %d", s.Exchanges[1].Miss, s.CountHeld(1))
	}
}
