package proxy

import (
	"testing"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

// An answer that tells nothing is no reason to forget what was sent.
func TestAnAnswerThatTellsNothingIsCountedHere(t *testing.T) {
	x := &exchange{set: &settings{}}
	x.ear.Of(messages.Wire{})
	a := &wire.Answer{Head: &wire.Head{Code: 200}}
	x.ear.Listen(a)
	x.event.TokensAfter.User = 7
	x.takeUsage(a)
	if want := (event.Usage{Source: event.UsageCounted, Input: 7, CacheUnknown: true}); x.event.Usage != want {
		t.Errorf("the event has %+v, want %+v", x.event.Usage, want)
	}
}

func TestUsageIsToldInTheEvent(t *testing.T) {
	t.Parallel()
	f := func(mode, answer string, want event.Usage) {
		t.Helper()
		r := on(t, answers(frames(taken("created", "a", ""), itemAdded, saidHello)+frames(answer)))
		r.shapes(climbing)
		r.observe.Store(r.shape.Load())
		r.dial().send(post(responsesTarget, longTask, "x-epitome-mode: "+mode)).answer("POST")
		e := r.event()
		if e.Usage != want || e.Dialect != (responses.Dialect{}).Key() {
			t.Errorf("%s: %+v in %q, want %+v", mode, e.Usage, e.Dialect, want)
		}
		if (e.TokensUsed > 0) != (want.Source == event.UsageProvider && mode == "on") {
			t.Errorf("%s: used %d tokens", mode, e.TokensUsed)
		}
	}
	told := event.Usage{Source: event.UsageProvider, Input: 4810, Read: 4000, Output: 3}
	f("on", wentWell, told)
	f("observe", wentWell, told)
	counted := event.Usage{Source: event.UsageCounted, Input: 10_000, CacheUnknown: true}
	f("on", taken("completed", "a", ""), counted)
	f("observe", taken("completed", "a", ""), counted)
}
