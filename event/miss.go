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
	MissUnknown  Miss = "unknown"  // no answer so far says that the provider has a cache
)

// IsLoss reports whether the cache missed something that it had, or should have had.
func (m Miss) IsLoss() bool {
	return m != NoMiss && m != MissFirst && m != MissSmall && m != MissUnknown
}

// rebilledOf returns how many tokens of e the cache did not have, though p had left them there, by the provider's count;
// 0 if that is not known.
func rebilledOf(e, p *Exchange) int {
	if !e.Miss.IsLoss() || !e.Usage.TellsCache() {
		return 0
	}
	return max(0, min(held(p), e.Usage.Input)-e.Usage.Read)
}

// IsAnswered reports whether it is a request of a conversation that was answered.
func (e *Exchange) IsAnswered() bool {
	return e.Conversation != "" && e.Fault == None &&
		e.Status >= http.StatusOK && e.Status < http.StatusMultipleChoices
}

// Sent returns the tokens of the request as the provider received it, by epitome's count.
func (e *Exchange) Sent() int {
	if e.Mode == ModeObserve {
		return e.TokensBefore.Total()
	}
	return e.TokensAfter.Total()
}

// provided converts tokens of a request by epitome's count to those that the provider has counted. Two requests are
// compared in the provider's tokens, as epitome may have learned how they differ between the two.
func provided(e *Exchange, tokens int) int {
	if all := e.Sent(); all > 0 && e.Usage.Input > 0 {
		return tokens * e.Usage.Input / all
	}
	return tokens
}

// missOf returns why the provider's cache had less of e than p, the last answered request, had left there; p is nil if
// there was none. life is the time that the cache keeps a request; 0 is without end.
func missOf(e, p *Exchange, life time.Duration) Miss {
	u := &e.Usage
	all := provided(e, e.Sent())
	// hit reports whether the cache had at least four fifths of so many tokens.
	hit := func(tokens int) bool { return u.TellsCache() && u.Input > 0 && 5*u.Read >= 4*min(tokens, u.Input) }
	if p == nil {
		if u.Read > 0 && hit(all) {
			return NoMiss
		}
		return MissFirst
	}
	cached := u.Read + u.Write5m + u.Write1h + p.Usage.Read + p.Usage.Write5m + p.Usage.Write1h // tokens of both
	left := provided(p, p.Sent())
	held := provided(e, e.HeldAfter)
	hasHeld := e.HeldBefore > 0 || e.HeldAfter > 0
	switch {
	case !hasHeld:
		held = left
	case e.Mode == ModeObserve:
		held = provided(e, e.HeldBefore)
	}
	switch {
	case hit(left):
		return NoMiss
	case !u.TellsCache(), cached == 0 && !p.Miss.IsLoss(): // no answer so far mentions cached tokens
		return MissUnknown
	case e.Model != p.Model:
		return MissModel
	case life > 0 && e.Start.Sub(p.Start) > life:
		return MissPause
	case (e.Broke || p.Broke) && e.Mode == ModeOn:
		return MissOurs
	case e.Leading != p.Leading && e.TokensBefore.Tools != p.TokensBefore.Tools:
		return MissTools
	case e.Leading != p.Leading:
		return MissLeading
	case e.Diverged > 0 || hasHeld && 5*provided(e, e.HeldBefore) < 4*provided(p, p.TokensBefore.Total()):
		return MissClient
	case all < leastCached || left < leastCached:
		return MissSmall
	case hit(min(held, left)):
		return NoMiss
	}
	return MissProvider
}
