package proxy

import (
	"math"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/window/overflow"
)

// takeUsage takes what an answer that has passed has said of its tokens. Where it says nothing, the request's are our
// own count.
func (x *exchange) takeUsage(a *wire.Answer) {
	if !x.ear.Hears() || a.Code < 200 || a.Code > 299 {
		return
	}
	u, used := x.ear.Usage(wire.Values(a.Block, "content-encoding"), int64(x.set.conf.MaxBody))
	if x.event.Usage = u; u.Source == "" {
		countUsage(&x.event)
	}
	if counted, ok := x.ear.Learns(); ok {
		learnFrom(x, counted, used)
	}
}

// countUsage puts our own count of what was sent in the place of one that the answer does not tell.
func countUsage(e *event.Exchange) {
	if sent := ownCount(e); sent > 0 {
		e.Usage.Source, e.Usage.Input, e.Usage.CacheUnknown = event.UsageCounted, sent, true
	}
}

// ownCount is how many tokens were sent by our own count; 0 if they were not counted.
func ownCount(e *event.Exchange) int {
	if e.Mode == event.ModeObserve {
		return e.TokensBefore.Total()
	}
	return e.TokensAfter.Total()
}

// learnFrom learns from how many tokens the provider says that a request had: whether it had all of it, and how much
// that was. own are its tokens of the vocabulary; 0 if usage is not to be held against them.
func learnFrom(x *exchange, own, used int) {
	counted := untaught(&x.event.Shaping)
	if counted == 0 {
		return
	}
	lessons := x.proxy.plugs.Lessons
	if used <= 0 { // by our own count, with a margin
		refuted := lessons.LearnAnswer(x.event.Upstream, x.event.Model, counted-counted/10)
		x.event.Hint = hintOf(event.Refuted, refuted)
		return
	}
	x.event.TokensUsed = used
	if cut, ok := overflow.Truncated(used, counted, x.event.Window); ok {
		x.event.Hint = hintOf(event.Suspected, cut.Size)
		if lessons.LearnCut(x.event.Upstream, x.event.Model, cut, x.event.Window) {
			x.event.Hint.Kind = event.Learned
			x.proxy.plugs.Ratios.Forget(sourceOf(x))
		}
		return
	}
	x.event.Hint = hintOf(event.Refuted, lessons.LearnAnswer(x.event.Upstream, x.event.Model, used))
	if own > 0 {
		x.proxy.plugs.Ratios.Learn(sourceOf(x), own, used)
	}
}

// sourceOf is whom the request was sent to, and in which dialect.
func sourceOf(x *exchange) Source { return Source{x.event.Upstream, x.event.Model, x.dialect.Key()} }

// hintOf is what an answer tells of a window of so many tokens; 0 is none.
func hintOf(kind event.HintKind, tokens int) event.Hint {
	if tokens <= 0 {
		return event.Hint{}
	}
	return event.Hint{Kind: kind, Tokens: int32(min(tokens, math.MaxInt32))}
}

// untaught is how many tokens the request that was sent had, by no ratio that answers have taught: one that is too
// high must not make honest answers look as if they were about less.
func untaught(s *event.Shaping) int {
	counted := s.TokensAfter.Total()
	if s.Ratio > 1 {
		return int(float64(counted) / s.Ratio)
	}
	return counted
}
