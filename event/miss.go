package event

import (
	"net/http"
	"time"
)

// prior is the last answered request of a conversation, with which the next one is compared.
type prior struct {
	start          time.Time
	model, leading string
	before, after  int  // tokens before shaping, and as sent
	broke          bool // a request since then, not answered, was sent in another form
}

func priorOf(e *Exchange) *prior {
	return &prior{start: e.Start, model: e.Model, leading: e.Leading, before: e.TokensBefore.Total(), after: sent(e)}
}

// isAnswered reports whether a request of a conversation was answered.
func isAnswered(e *Exchange) bool {
	return e.Conversation != "" && e.Fault == None &&
		e.Status >= http.StatusOK && e.Status < http.StatusMultipleChoices
}

// sent returns the tokens of the request as the provider received it, by epitome's count.
func sent(e *Exchange) int {
	if e.Mode == ModeObserve {
		return e.TokensBefore.Total()
	}
	return e.TokensAfter.Total()
}

// missOf returns why the provider's cache had less of e than p, the request before, had left there. life is the time
// that the cache keeps a request; 0 is without end. p is nil if there was none.
func missOf(e *Exchange, p *prior, life time.Duration) Miss {
	const leastCached = 1024 // tokens: providers cache no shorter request
	u, all := &e.Usage, sent(e)
	known := tellsCache(u)
	// hit reports whether the cache had at least four fifths of so many tokens. Shares of the request are compared: the
	// provider counts tokens in its own way.
	hit := func(tokens int) bool { return known && all > 0 && 5*u.Read*all >= 4*min(tokens, all)*u.Input }
	if p == nil {
		if u.Read > 0 && hit(all) {
			return NoMiss
		}
		return MissFirst
	}
	held, heldBefore := min(int(e.HeldAfter), p.after), int(e.HeldBefore)
	if e.Mode == ModeObserve {
		held = min(heldBefore, p.after)
	}
	hasHeld := e.HeldBefore > 0 || e.HeldAfter > 0
	if !hasHeld {
		held = p.after
	}
	switch {
	case hit(p.after):
		return NoMiss
	case e.Model != p.model:
		return MissModel
	case life > 0 && e.Start.Sub(p.start) > life:
		return MissPause
	case (e.Broke || p.broke) && e.Mode == ModeOn:
		return MissOurs
	case e.Leading != p.leading:
		return MissLeading
	case e.Diverged > 0 || hasHeld && 5*heldBefore < 4*p.before:
		return MissClient
	case all < leastCached || p.after < leastCached:
		return MissSmall
	case !known:
		return MissUnknown
	case hit(held):
		return NoMiss
	}
	return MissProvider
}

// tellsCache reports whether the provider said how much its cache had.
func tellsCache(u *Usage) bool {
	return u.Source == UsageProvider && !u.Odd && !u.CacheUnknown
}
