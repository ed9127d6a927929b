package story

import (
	"net/http"
	"time"

	"epitome/event"
)

// prior is what the next request of a conversation is compared with: the last one that was answered.
type prior struct {
	Start   time.Time `json:"start"`
	Model   string    `json:"model,omitempty"`
	Leading string    `json:"leading,omitempty"`
	Before  int       `json:"before,omitempty"` // tokens as it came, and as it was sent
	After   int       `json:"after,omitempty"`
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
	return &prior{
		Start: e.Start.Round(0), Model: e.Model, Leading: e.Leading, Before: e.TokensBefore.Total(), After: sent(e),
	}
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
	case known && isMost(u.Read, p.After):
		return event.NoMiss
	case e.Model != p.Model:
		return event.MissModel
	case e.Start.Sub(p.Start) > life:
		return event.MissPause
	case e.Broke && e.Mode == event.ModeOn:
		return event.MissOurs
	case e.Leading != p.Leading:
		return event.MissLeading
	case e.Diverged > 0 || hasHeld(e) && !isMost(e.HeldBefore, p.Before): // counting may have changed
		return event.MissClient
	case sent(e) < leastCached || p.After < leastCached:
		return event.MissSmall
	case !known:
		return event.MissUnknown
	}
	held := p.After
	if hasHeld(e) {
		held = e.HeldAfter
	}
	if isMost(u.Read, held) {
		return event.NoMiss
	}
	return event.MissProvider
}

// tellsCache reports whether it is known what the provider's cache had.
func tellsCache(u *event.Usage) bool {
	return u.Source == event.UsageProvider && !u.Odd && !u.CacheUnknown
}

// hasHeld reports whether it is known what stood in the request before.
func hasHeld(e *event.Exchange) bool { return e.HeldBefore > 0 || e.HeldAfter > 0 }

// isMost reports whether part is at least four fifths of the whole.
func isMost(part, whole int) bool { return 5*part >= 4*whole }
