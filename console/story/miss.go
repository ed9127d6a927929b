package story

import (
	"net/http"
	"time"

	"epitome/event"
)

// prior is what the next request of a conversation is compared with: the last one that was answered. Tokens are as they
// were counted here, with the ratio of that time.
type prior struct {
	Start   time.Time `json:"start"`
	Model   string    `json:"model,omitempty"`
	Leading string    `json:"leading,omitempty"`
	Before  int       `json:"before,omitempty"` // tokens as it came, and as it was sent
	After   int       `json:"after,omitempty"`
	Told    int       `json:"told,omitempty"`  // tokens as it was sent, as the provider counts; 0 if it did not say
	Ratio   float64   `json:"ratio,omitempty"` // as of event.Shaping
	// Broke is that a decision has changed since what had been sent, with a request that was not answered.
	Broke bool `json:"broke,omitempty"`
}

// isConversation reports whether a conversation was answered.
func isConversation(e *event.Exchange) bool {
	return e.Conversation != "" && e.Fault == event.None &&
		e.Status >= http.StatusOK && e.Status < http.StatusMultipleChoices
}

// sent is how many tokens the provider got.
func sent(e *event.Exchange) int {
	if e.Mode == event.ModeObserve {
		return e.TokensBefore.Total()
	}
	return e.TokensAfter.Total()
}

// priorOf is what an exchange that was answered leaves for the next one.
func priorOf(e *event.Exchange) *prior {
	p := &prior{
		Start: e.Start.Round(0), Model: e.Model, Leading: e.Leading, Before: e.TokensBefore.Total(), After: sent(e),
		Ratio: e.Ratio,
	}
	if tellsInput(e) {
		p.Told = e.Usage.Input
	}
	return p
}

// The provider's cache.
const (
	leastCached = 1024            // tokens of a request, below which no provider caches it
	usualLife   = 5 * time.Minute // after the last use
)

// missOf is why the provider's cache had less of an answered conversation than p, the request before it, had put
// there; p is nil if there was none. life is how long the provider is believed to keep it.
func missOf(e *event.Exchange, p *prior, life time.Duration) event.Miss {
	u := &e.Usage
	known := tellsCache(u)
	switch {
	case p == nil && known && u.Read > 0 && isMost(u.Read, u.Input):
		return event.NoMiss
	case p == nil:
		return event.MissFirst
	case known && isMost(u.Read, leftOf(e, p)):
		return event.NoMiss
	case e.Model != p.Model:
		return event.MissModel
	case e.Start.Sub(p.Start) > life:
		return event.MissPause
	case (e.Broke || p.Broke) && e.Mode == event.ModeOn:
		return event.MissOurs
	case e.Leading != p.Leading:
		return event.MissLeading
	case e.Diverged > 0 || isChanged(e, p):
		return event.MissClient
	case asTold(e, sent(e)) < leastCached || leftOf(e, p) < leastCached:
		return event.MissSmall
	case !known:
		return event.MissUnknown
	case isMost(u.Read, held(e, p)):
		return event.NoMiss
	}
	return event.MissProvider
}

// isChanged reports whether less stands where it stood than p came with. Counts of other ratios are made comparable;
// where one of the ratios is not known they are not, and nothing can be said.
func isChanged(e *event.Exchange, p *prior) bool {
	rate, known := rateOf(e, p)
	return known && hasHeld(e) && !isMost(int(e.HeldBefore), int(float64(p.Before)*rate))
}

// rateOf is how many tokens of e one token of p is, as they were counted here.
func rateOf(e *event.Exchange, p *prior) (rate float64, known bool) {
	switch {
	case e.Ratio == p.Ratio:
		return 1, true
	case e.Ratio > 0 && p.Ratio > 0:
		return e.Ratio / p.Ratio, true
	}
	return 1, false
}

// held is how much of e the provider could have had in its cache, as it counts tokens if it says: what stood in the
// same place in the request before, but no more than p, the last one that was answered, has left there. A request that
// was refused leaves nothing. p is nil if none was answered.
func held(e *event.Exchange, p *prior) int {
	if !hasHeld(e) && p != nil {
		return leftOf(e, p)
	}
	same := int(e.HeldAfter)
	if e.Mode == event.ModeObserve { // it went as it came
		same = int(e.HeldBefore)
	}
	if same = asTold(e, same); p != nil {
		same = min(same, leftOf(e, p))
	}
	return same
}

// leftOf is how many tokens p has left in the cache, counted as asTold counts those of e.
func leftOf(e *event.Exchange, p *prior) int {
	if p.Told > 0 && tellsInput(e) {
		return p.Told
	}
	rate, _ := rateOf(e, p)
	return asTold(e, int(float64(p.After)*rate))
}

// asTold is how many tokens of e's provider so many are that were counted here; the same if it does not say.
func asTold(e *event.Exchange, tokens int) int {
	if all := sent(e); all > 0 && tellsInput(e) {
		return int(int64(tokens) * int64(e.Usage.Input) / int64(all))
	}
	return tokens
}

// tellsInput reports whether the provider has told how many tokens it got.
func tellsInput(e *event.Exchange) bool {
	return e.Usage.Source == event.UsageProvider && !e.Usage.Odd && e.Usage.Input > 0
}

// CountHeld is how much of the i-th exchange the provider could have had in its cache, as it counts tokens if it says;
// 0 if that is not known. Where it says that it had more than was counted here, it could have had that.
func (s *Story) CountHeld(i int) int {
	e, p := &s.Exchanges[i], (*prior)(nil)
	for before := i - 1; before >= 0 && p == nil; before-- {
		if isConversation(&s.Exchanges[before]) {
			p = priorOf(&s.Exchanges[before])
		}
	}
	if tellsCache(&e.Usage) {
		return max(held(e, p), e.Usage.Read)
	}
	return held(e, p)
}

// tellsCache reports whether it is known what the provider's cache had.
func tellsCache(u *event.Usage) bool {
	return u.Source == event.UsageProvider && !u.Odd && !u.CacheUnknown
}

// hasHeld reports whether it is known what stood in the request before.
func hasHeld(e *event.Exchange) bool { return e.HeldBefore > 0 || e.HeldAfter > 0 }

// isMost reports whether part is at least four fifths of the whole.
func isMost(part, whole int) bool { return 5*part >= 4*whole }
