package event

import (
	"net/http"
	"time"
)

// Miss is why the provider's cache had less of a request than the request before had put there: the first that fits.
type Miss string

// The misses. NoMiss is a hit, or nothing to hit.
const (
	NoMiss       Miss = ""
	MissFirst    Miss = "first"    // the first request of the conversation
	MissModel    Miss = "model"    // another model was asked before
	MissPause    Miss = "pause"    // the pause was longer than the cache lives
	MissOurs     Miss = "decision" // a new decision of epitome's changed what had been sent
	MissTools    Miss = "tools"    // the client changed its tools
	MissLeading  Miss = "leading"  // it changed its system prompt or settings
	MissClient   Miss = "client"   // the client changed an earlier message
	MissSmall    Miss = "small"    // the request is below what is cached at all
	MissProvider Miss = "provider" // the beginning was the same, and yet the provider had less than four fifths of it
	MissUnknown  Miss = "unknown"  // the answer says nothing of the cache
)

// IsLoss reports whether the cache missed something that it had, or should have had.
func (m Miss) IsLoss() bool {
	return m != NoMiss && m != MissFirst && m != MissSmall && m != MissUnknown
}

// prior is the last answered request of a conversation, with which the next one is compared.
type prior struct {
	start          time.Time
	model, leading string
	tools          int  // their tokens
	before, after  int  // tokens before shaping, and as sent
	broke          bool // a request since then, not answered, was sent in another form
}

func priorOf(e *Exchange) *prior {
	return &prior{start: e.Start, model: e.Model, leading: e.Leading, tools: e.TokensBefore.Tools,
		before: e.TokensBefore.Total(), after: sent(e)}
}

// rebilledOf returns how many tokens of e the cache did not have, though p had left them there, by the provider's count;
// 0 if that is not known.
func rebilledOf(e *Exchange, p *prior) int {
	all := sent(e)
	if !e.Miss.IsLoss() || !e.Usage.tellsCache() || all == 0 {
		return 0
	}
	return max(0, min(p.after, all)*e.Usage.Input/all-e.Usage.Read)
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
	known := u.tellsCache()
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
	case e.Leading != p.leading && e.TokensBefore.Tools != p.tools:
		return MissTools
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
