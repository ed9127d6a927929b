package proxy

import (
	"slices"
	"strings"
	"testing"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

// Whatever runs an answer comes in, its beginning and its end are heard, and no more is kept.
func TestAnEarHearsBeginningAndEnd(t *testing.T) {
	const begin = `data: {"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":3}}}` + "\n\n"
	const end = `data: {"type":"message_delta","usage":{"output_tokens":9}}` + "\n\n"
	for _, middle := range []int{0, 1000, 5000, 100_000} {
		answer := []byte(strings.Replace(begin, `":3`, `":3,"output_tokens":1`, 1) + strings.Repeat("data: {}\n\n", middle/10) + end)
		for _, run := range []int{1, 7, 50, 1000, mostEnd - 1, mostEnd, mostEnd + 1, 60_000} {
			e := ear{on: true, dialect: messages.Wire{}}
			for rest := range slices.Chunk(answer, run) {
				e.hear(rest)
			}
			want := event.Usage{Source: event.UsageProvider, Input: 10, Read: 3, Output: 9}
			if u, _ := e.usage(nil, 1<<20); u != want || len(e.end) > 2*mostEnd {
				t.Errorf("%d bytes in runs of %d: %+v, and %d bytes are kept", len(answer), run, u, len(e.end))
			}
		}
	}
}

// An encoded answer that is too long to be kept tells nothing, and is no reason to forget what was sent.
func TestAnEarLetsLongEncodedAnswersGo(t *testing.T) {
	e := ear{on: true, dialect: messages.Wire{}, coded: true}
	for range mostCoded/1000 + 2 {
		e.hear(make([]byte, 1000))
	}
	if u, used := e.usage([]byte("gzip"), 1<<20); u != (event.Usage{}) || used != 0 || cap(e.end) > 0 {
		t.Errorf("heard %+v and %d, and keeps %d bytes", u, used, cap(e.end))
	}
	x := &exchange{ear: e, set: &settings{}}
	x.event.TokensAfter.User = 7
	x.takeUsage(&wire.Answer{Head: &wire.Head{Code: 200}})
	if want := (event.Usage{Source: event.UsageCounted, Input: 7, CacheUnknown: true}); x.event.Usage != want {
		t.Errorf("the event has %+v, want %+v", x.event.Usage, want)
	}
}

func TestUsageIsToldInTheEvent(t *testing.T) {
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
