package metrics

import (
	"testing"
	"time"

	"epitome/event"
)

// BenchmarkRecord is what an exchange costs when its answer has been given.
func BenchmarkRecord(b *testing.B) {
	r := New(idle)
	e := event.Exchange{
		ID: "mhp3q1-1", Method: "POST", Path: "/v1/chat/completions", Upstream: "openai", Mode: "on", Action: "none",
		Status: 200, RequestBytes: 2048, ResponseBytes: 1016, FirstByte: 61 * time.Microsecond,
		Duration: 83 * time.Microsecond,
	}
	size := event.Tokens{System: 9, User: 300, Assistant: 30, Results: 100}
	e.Shaping = event.Shaping{
		Model: "gpt-4.1", Conversation: "c0ffee", Window: 1047576, ShapeTime: 12 * time.Microsecond,
		Reason: "the request is one that was decided before", TokensBefore: size, TokensAfter: size,
	}
	b.ReportAllocs()
	for b.Loop() {
		r.RecordExchange(e)
	}
}
