package proxy

import (
	"bytes"
	"io"
	"math"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite/spent"
	"epitome/window/overflow"
)

// ear listens to an answer as it passes by, for what it says of its tokens. The zero value hears nothing.
type ear struct {
	dialect Dialect     // of the answer; nil if there is none to listen to
	end     []byte      // what came last; of an encoded answer all of it, until that is too much
	opening *spent.Said // what the beginning says, if that is in end no more; nil if it says nothing
	counted int32       // tokens of the request, without any ratio; 0 if its usage is not to be held against them
	on      bool
	forgets bool // the beginning is in end no more
	learns  bool // what is heard is of a request that was shaped
	coded   bool // the answer has a content coding
}

const (
	mostEnd   = 4 << 10  // bytes in which usage stands at an answer's end
	mostBegin = 2 << 10  // bytes in which it stands at the beginning
	mostCoded = 96 << 10 // bytes of an encoded answer that are kept to be decoded
)

// hear takes a run of the body.
func (e *ear) hear(run []byte) {
	switch {
	case !e.on:
	case e.coded:
		if e.end = append(e.end, run...); len(e.end) > mostCoded {
			e.on, e.end = false, nil // the request's own count stays
		}
	case len(run) >= mostEnd:
		e.forget(run)
		e.end = append(e.end[:0], run[len(run)-mostEnd:]...)
	default:
		if len(e.end)+len(run) > 2*mostEnd {
			e.forget(nil)
			e.end = append(e.end[:0], e.end[len(e.end)-mostEnd:]...)
		}
		e.end = append(e.end, run...)
	}
}

// forget reads the beginning, before it is let go for the first time. run is what comes behind what was kept.
func (e *ear) forget(run []byte) {
	if e.forgets {
		return
	}
	e.forgets = true
	begin := run
	if len(e.end) > 0 {
		e.end = append(e.end, run[:min(max(mostBegin-len(e.end), 0), len(run))]...)
		begin = e.end
	}
	if said := e.dialect.Opening(begin[:min(mostBegin, len(begin))]); said != spent.Nothing() {
		e.opening = &said
	}
}

// usage is what the answer says of its tokens, and how many of them the request had; 0 if it does not say. coding is
// that of its content, if it has one.
func (e *ear) usage(coding []byte, most int64) (u event.Usage, input int) {
	opening := spent.Nothing()
	if e.opening != nil {
		opening = *e.opening
	}
	if !e.coded {
		return e.dialect.Usage(e.end, opening)
	}
	r, err := wire.NewDecoder(string(coding), bytes.NewReader(e.end), most)
	if err != nil {
		return u, 0
	}
	defer func() { _ = r.Close() }()
	all, _ := io.ReadAll(r)
	return e.dialect.Usage(all, opening)
}

// listen has the ear hear an answer from its beginning.
func (e *ear) listen(a *wire.Answer) {
	*e = ear{on: e.dialect != nil, dialect: e.dialect}
	coding := wire.Values(a.Block, "content-encoding")
	e.coded = len(coding) > 0 && !wire.EqualFold(coding, "identity")
}

// learn has what is heard taught. counted is how many tokens of the vocabulary were sent.
func (e *ear) learn(counted int) {
	e.learns = true
	e.count(counted)
}

// count says how many tokens of the vocabulary were sent.
func (e *ear) count(tokens int) { e.counted = int32(min(tokens, math.MaxInt32)) }

// takeUsage takes what an answer that has passed has said of its tokens. Where it says nothing, the request's are our
// own count.
func (x *exchange) takeUsage(a *wire.Answer) {
	if x.ear.dialect == nil || a.Code < 200 || a.Code > 299 {
		return
	}
	u, used := x.ear.usage(wire.Values(a.Block, "content-encoding"), int64(x.set.conf.MaxBody))
	if x.event.Usage = u; u.Source == "" {
		countUsage(&x.event)
	}
	if x.ear.learns {
		learnFrom(x, used)
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
// that was.
func learnFrom(x *exchange, used int) {
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
	if x.ear.counted > 0 {
		x.proxy.plugs.Ratios.Learn(sourceOf(x), int(x.ear.counted), used)
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
