package proxy

import (
	"slices"
	"strings"
	"testing"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite/chat"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

// An answer may begin well, and end with the provider's word that it has failed: its status tells nothing of that.
func TestAnErrorWithinAnAnswerIsTold(t *testing.T) {
	f := func(d Dialect, kind, stream string, want event.Fault) {
		t.Helper()
		x := &exchange{set: &settings{}, dialect: d}
		a := &wire.Answer{Head: &wire.Head{Code: 200, Block: []byte("Content-Type: " + kind + "\r\n")}}
		x.listen(a)
		for run := range slices.Chunk([]byte(stream), 1000) {
			x.answer.add(run)
		}
		x.readUsage(a, false)
		if x.event.Fault != want {
			t.Errorf("%s: the fault is %q, want %q, of %.300s", d.Name(), x.event.Fault, want, stream)
		}
	}
	const events = "text/event-stream; charset=utf-8"
	said := strings.Repeat("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"an error\"}}\n\n", 200)
	const overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	f(messages.Dialect{}, events, said+overloaded, event.Failed)
	f(messages.Dialect{}, events, strings.ReplaceAll(said+overloaded, "\n", "\r\n"), event.Failed)
	f(messages.Dialect{}, events, said+"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", event.None)
	f(messages.Dialect{}, events, said, event.None)
	f(messages.Dialect{}, "application/json", overloaded, event.None)
	chunk := "data: {\"choices\":[{\"delta\":{\"content\":\"an error\"}}]}\n\n"
	const stopped = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	f(chat.Dialect{}, events, chunk+"data: {\"error\":{\"message\":\"server error\"}}\n\ndata: [DONE]\n\n", event.Failed)
	f(chat.Dialect{}, events, chunk+stopped+"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n", event.None)
	f(responses.Dialect{}, events, "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\"}}}\n\n",
		event.Failed)
	f(responses.Dialect{}, events, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"error\":null}}\n\n", event.None)
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
		if e.Usage != want || e.Dialect != (responses.Dialect{}).Name() {
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
