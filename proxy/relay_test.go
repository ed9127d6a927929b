package proxy

import (
	"strings"
	"testing"

	"epitome/dialect/responses"
	"epitome/event"
)

// An answer may begin well, and end with the provider's word that it has failed: its status says nothing of that.
func TestAnErrorWithinAnAnswerIsAFault(t *testing.T) {
	t.Parallel()
	f := func(target, story, stream string, want event.Fault) {
		t.Helper()
		r := on(t, answers(streamed(stream)))
		r.shapes(climbing)
		r.ask(post(target, story))
		if e := r.event(); e.Fault != want {
			t.Errorf("%s: the fault is %q, want %q, of %.300s", target, e.Fault, want, stream)
		}
	}
	said := strings.Repeat(named(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"an error"}}`), 200)
	overloaded := named(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	f(messagesTarget, longStory, said+overloaded, event.Failed)
	f(messagesTarget, longStory, strings.ReplaceAll(said+overloaded, "\n", "\r\n"), event.Failed)
	f(messagesTarget, longStory, said+named(`{"type":"message_stop"}`), event.None)
	const chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"an error\"}}]}\n\n"
	f(chatTarget, longStory, chunk+"data: {\"error\":{\"message\":\"server error\"}}\n\ndata: [DONE]\n\n", event.Failed)
	const stop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	f(chatTarget, longStory, chunk+stop, event.None)
	begun := named(stateOf("created", "a", ""), itemAdded, saidHello)
	failed := named(`{"type":"response.failed","response":{"error":{"code":"server_error"}}}`)
	f(responsesTarget, longTask, begun+failed, event.Failed)
	f(responsesTarget, longTask, begun+named(wentWell), event.None)
}

func TestUsageIsRecorded(t *testing.T) {
	t.Parallel()
	f := func(mode, last string, want event.Usage) {
		t.Helper()
		r := on(t, answers(streamed(named(stateOf("created", "a", ""), itemAdded, saidHello)+named(last))))
		r.shapes(climbing)
		r.observe.Store(r.shape.Load())
		r.ask(post(responsesTarget, longTask, "x-epitome-mode: "+mode))
		e := r.event()
		if e.Usage != want || e.Dialect != (responses.Dialect{}).API().Name {
			t.Errorf("%s: %+v in %q, want %+v", mode, e.Usage, e.Dialect, want)
		}
	}
	for _, mode := range []string{"on", "observe"} {
		f(mode, wentWell, event.Usage{Source: event.UsageProvider, Input: 4810, Read: 4000, Output: 3})
		f(mode, stateOf("completed", "a", ""), event.Usage{Source: event.UsageCounted, Input: 10_000,
			CacheUnknown: true})
	}
}
