package proxy

import (
	"bytes"
	"io"
	"math"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/window/overflow"
)

// ear listens to an answer as it passes by, for what its end says of the request's size. The zero value hears nothing.
type ear struct {
	coding  string // content coding
	end     []byte // what came last; of an encoded answer all of it, until that is too much
	counted int32  // tokens of the request, without any ratio; 0 if its usage is not to be held against them
	on      bool
}

const (
	mostEnd   = 4 << 10  // bytes in which usage stands at an answer's end
	mostCoded = 24 << 10 // bytes of an encoded answer that are kept to be decoded
)

// hear takes a run of the body.
func (e *ear) hear(run []byte) {
	switch {
	case !e.on:
	case e.coding != "":
		if e.end = append(e.end, run...); len(e.end) > mostCoded {
			*e = ear{}
		}
	case len(run) >= mostEnd:
		e.end = append(e.end[:0], run[len(run)-mostEnd:]...)
	default:
		if len(e.end)+len(run) > 2*mostEnd {
			e.end = append(e.end[:0], e.end[len(e.end)-mostEnd:]...)
		}
		e.end = append(e.end, run...)
	}
}

// usage is how many tokens the request had, as the answer says in dialect d; 0 if it does not.
func (e *ear) usage(d Dialect, most int64) int {
	if e.coding == "" {
		return d.Usage(e.end)
	}
	r, err := wire.NewDecoder(e.coding, bytes.NewReader(e.end), most)
	if err != nil {
		return 0
	}
	defer func() { _ = r.Close() }()
	all, _ := io.ReadAll(r)
	return d.Usage(all)
}

// listen has the ear hear an answer from its beginning. counted is how many tokens of the vocabulary were sent.
func (e *ear) listen(a *wire.Answer, counted int) {
	*e = ear{on: true}
	e.count(counted)
	if coding := wire.Values(a.Block, "content-encoding"); !wire.EqualFold(coding, "identity") {
		e.coding = string(coding)
	}
}

// count says how many tokens of the vocabulary were sent.
func (e *ear) count(tokens int) { e.counted = int32(min(tokens, math.MaxInt32)) }

// learnFrom learns from what an answer that has passed has said: whether the provider had all of the request, and how
// much that was.
func (x *exchange) learnFrom(a *wire.Answer) {
	counted := untaught(&x.event.Shaping)
	if !x.ear.on || a.Code < 200 || a.Code > 299 || counted == 0 {
		return
	}
	used := x.ear.usage(x.dialect, int64(x.set.conf.MaxBody))
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
