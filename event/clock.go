package event

import "time"

// Clock says for how long a provider's cache holds the beginning of a conversation, and what losing it costs.
type Clock struct {
	Conversation string    `json:"conversation"` // its ID
	Until        time.Time `json:"until"`
	Left         int       `json:"left_seconds"` // until then; 0 if it has passed
	Tokens       int       `json:"tokens"`       // that a later request has billed again
	Nano         int64     `json:"cost_nano"`    // of them, in nano-dollars
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

// cacheLife returns how long the provider caches the request; 0 is without end. life is what holds if neither request
// nor answer says more. e may be nil.
func (e *Exchange) cacheLife(life time.Duration) time.Duration {
	if e != nil && life > 0 && (e.CacheHour || e.Usage.forHour()) {
		return max(life, time.Hour)
	}
	return life
}

// Clock returns the Clock of a conversation whose last answered exchange is e; nil if prices or the rules of the cache
// are not known. e may be nil.
func (b *Biller) Clock(e *Exchange, now time.Time) *Clock {
	if e == nil || !e.Usage.TellsCache() || e.Miss == MissUnknown || now.Before(e.Start) { // the clock was set back
		return nil
	}
	p, _ := b.price(e.Upstream, e.Model, now)
	_, isPriced := p.Cost(&e.Usage)
	life := e.cacheLife(b.Life())
	tokens := held(e)
	if !isPriced || p.isFree() || p.Read == nil || life == 0 || tokens == 0 {
		return nil
	}
	again := Usage{Input: tokens, Write5m: tokens}
	if life >= time.Hour && e.Usage.Write5m == 0 && p.Write1h != nil {
		again = Usage{Input: tokens, Write1h: tokens}
	}
	nano, _ := p.cost(again, e.Usage.Input) // of these tokens all rates are known
	until := e.Start.Add(life)
	left := int(max(0, until.Sub(now)).Seconds())
	return &Clock{Conversation: e.Conversation, Until: until, Left: left, Tokens: tokens, Nano: nano}
}
