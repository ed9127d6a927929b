package proxy

import (
	"epitome/event"
	"epitome/proxy/wire"
	"epitome/tokenize"
)

// takeUsage takes what an answer that has passed has said of its tokens. Where it says nothing, the request's are our
// own count.
func takeUsage(x *exchange, a *wire.Answer) {
	if !tells(x, a) {
		return
	}
	end := x.ear.ReadEnd(a, int64(x.set.conf.MaxBody))
	if failsAtEnd(a, x.dialect, x.ear.Torn(), end) {
		x.event.Fault, x.event.Err = event.Failed, "the upstream told of an error within its answer"
	}
	u, used := x.ear.Usage(end)
	if a.Length == wire.UntilClose && u.Source != "" { // the connection ends alike behind a part of it
		u.Cut = u.Cut || !endsWhole(a, x.dialect, x.ear.Torn(), end)
	}
	if x.event.Usage = u; u.Source == "" {
		countUsage(&x.event)
	}
	if counted, ok := x.ear.Learns(); ok {
		learnFrom(x, counted, used)
	}
}

// takeCut takes what an answer has said until it broke off, or its client left: its request is paid all the same.
// Clients leave when they have the last event, before the body has its end: then it has said all. Nothing is learned
// from it.
func takeCut(x *exchange, a *wire.Answer) {
	if !tells(x, a) {
		return
	}
	end := x.ear.ReadEnd(a, int64(x.set.conf.MaxBody))
	u, _ := x.ear.Usage(end)
	if x.event.Usage = u; u.Source == "" {
		countCut(x, a)
		return
	}
	x.event.Usage.Cut = u.Cut || !endsWhole(a, x.dialect, x.ear.Torn(), end)
}

// countCut takes our own count of a request whose answer was cut before it told its tokens.
func countCut(x *exchange, _ *wire.Answer) {
	countUsage(&x.event)
	x.event.Usage.Cut = x.event.Usage.Source != ""
}

// tells reports whether an answer may tell its tokens.
func tells(x *exchange, a *wire.Answer) bool { return x.ear.Hears() && a.Code >= 200 && a.Code <= 299 }

// learnFrom learns from how many tokens the provider says that a request had: whether it had all of it, and how much
// that was. own are its tokens of the vocabulary; 0 if usage is not to be held against them.
func learnFrom(x *exchange, own, used int) {
	counted := x.event.TokensAfter.Total()
	if counted == 0 {
		return
	}
	x.event.TokensUsed = max(used, 0)
	x.event.WindowRefuted = x.proxy.plugs.Lessons.LearnAnswer(x.event.Upstream, x.event.Model, counted, used)
	if own > 0 && used > 0 {
		x.proxy.plugs.Ratios.Learn(sourceOf(x), own, used)
	}
}

// sourceOf is whom the request was sent to, and in which dialect.
func sourceOf(x *exchange) tokenize.Source {
	return tokenize.Source{Upstream: x.event.Upstream, Model: x.event.Model, Dialect: x.dialect.Name()}
}
