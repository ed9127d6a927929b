package event

// A provider's cache holds the beginning of a conversation for some time. This file says why it had less of a request
// than it should, and until when it holds one, by rules that hold for all providers.

import (
	"cmp"
	_ "embed" // caches.txt
	"net/http"
	"regexp"
	"time"

	"epitome/internal/unit"
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

// Clause says in words why, as codes.txt has it; empty for NoMiss.
func (m Miss) Clause() string { return Code("cache_" + m).Clause() }

// rebilledOf returns how many tokens of e the cache did not have, though p had left them there, by the provider's
// count; 0 if that is not known.
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
	all := e.Sent()
	if all > 0 && e.Usage.Input > 0 {
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

// Clock says until when a provider's cache holds the beginning of a conversation, and what losing it costs.
type Clock struct {
	Until  time.Time `json:"until"`
	Tokens int       `json:"tokens"`    // that a later request has billed again
	Nano   int64     `json:"cost_nano"` // of them, in nano-dollars
}

// No prefix shorter than leastCached tokens is cached, and a longer one in whole steps.
const (
	leastCached = 1024
	cacheStep   = 128
)

// held returns how many tokens of an answered request are in the provider's cache, by the provider's count: those that
// it read and wrote, or all if the API does not count what it writes.
func held(e *Exchange) int {
	u := &e.Usage
	written := u.Write5m + u.Write1h
	if e.Dialect == "messages" || written > 0 {
		return u.Read + written
	}
	if u.Input < leastCached {
		return 0
	}
	return u.Input - u.Input%cacheStep
}

//go:embed caches.txt
var cachesText string

// families has, by how long providers keep requests, what names of their models match.
var families = func() map[time.Duration]*regexp.Regexp {
	all := map[time.Duration]*regexp.Regexp{}
	for text, names := range unit.Expressions(cachesText) {
		life, _ := time.ParseDuration(text) // the table has nothing else
		all[life] = regexp.MustCompile("(?i)" + names)
	}
	return all
}()

// Caches is how long providers keep requests in their caches, as the configuration says.
type Caches struct {
	Life  time.Duration // 0 is without end
	IsSet bool          // the user says so; else Life holds where nothing else is known
}

// LifeOf returns how long the provider of a model keeps a request; 0 is without end. asked and answered are the times
// that the request asks for and that its answer states, or 0.
func (c Caches) LifeOf(model string, asked, answered time.Duration) time.Duration {
	ofFamily := time.Duration(0)
	for life, names := range families {
		if names.MatchString(Clip(model)) {
			ofFamily, asked = life, 0 // which the request cannot change
		}
	}
	switch {
	case c.Life == 0:
		return 0
	case c.IsSet:
		return max(c.Life, asked)
	}
	return cmp.Or(answered, ofFamily, max(c.Life, asked))
}

// lifeOf returns how long the provider keeps the request of e; 0 is without end.
func (b *Biller) lifeOf(e *Exchange) time.Duration {
	b.mu.Lock()
	caches := b.prices.Caches
	b.mu.Unlock()
	return caches.LifeOf(e.Model, e.CacheLife, e.Usage.Life)
}

// Clock returns the Clock of a conversation whose last answered exchange is e; nil if prices or the rules of the cache
// are not known. e may be nil.
func (b *Biller) Clock(e *Exchange) *Clock {
	if e == nil || !e.Usage.TellsCache() || e.Miss == MissUnknown {
		return nil
	}
	p, _ := b.price(e.Upstream, e.Model, e.Start)
	_, isPriced := p.Cost(&e.Usage)
	life := b.lifeOf(e)
	tokens := held(e)
	if !isPriced || p.isFree() || p.Read == nil || life == 0 || tokens == 0 {
		return nil
	}
	again := Usage{Input: tokens, Write5m: tokens}
	if life >= time.Hour && e.Usage.Write5m == 0 && p.Write1h != nil {
		again = Usage{Input: tokens, Write1h: tokens}
	}
	nano, _ := p.cost(again, e.Usage.Input) // of these tokens all rates are known
	return &Clock{Until: e.Start.Add(life), Tokens: tokens, Nano: nano}
}
