package rewrite

import (
	"encoding/json"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/limits"
	"epitome/rewrite/responses"
)

// FuzzShape: whatever a client sends, shaping neither panics nor fails, the original can be made again, and what was
// JSON is JSON. Limits are so small that nearly everything is over them.
func FuzzShape(f *testing.F) {
	for seed := range uint64(12) {
		c := newTalk(seed, true)
		for range seed % 4 {
			c.grow()
		}
		f.Add(c.body())
	}
	f.Add(`{"messages":[{"role":"tool","content":"` + goldenTexts("$(log 30)") + `"}]}`)
	f.Add(`{"messages":[{"role":"assistant","content":[{"text":7,"type":"text"}],"tool_calls":[{"custom":{"input":"` + goldenTexts("$(words 200)") + `"}}]}]}`)
	f.Fuzz(func(t *testing.T, body string) { shapeAnything(t, chat.Dialect{}, body) })
}

// FuzzShapeResponses: likewise in Responses.
func FuzzShapeResponses(f *testing.F) {
	for seed := range uint64(12) {
		c := newTalkIn(responsesTongue{}, seed, true)
		for range seed % 4 {
			c.grow()
		}
		f.Add(c.body())
	}
	f.Add(`{"input":"` + goldenTexts("$(log 30)") + `","previous_response_id":"r"}`)
	f.Fuzz(func(t *testing.T, body string) { shapeAnything(t, responses.Dialect{}, body) })
}

func shapeAnything(t *testing.T, in conversation.Dialect, body string) {
	t.Helper()
	b := newBench(2000)
	b.dialect = in
	b.limits = goldenLimits()
	b.limits.Offload, b.limits.OffloadReads, b.limits.Floor = 30, 30, 10
	b.limits.OffloadKeep, b.limits.Lookups = 5, 30
	b.limits.ClearCalls, b.limits.Groups, b.limits.Protect = true, 0, 0
	b.limits.ClearAt, b.limits.ClearAtLeast = 0.1, 10
	b.limits.Rules = limits.Rules{Turns: 2, Messages: 5, Pairs: 1, TextOnly: len(body)%2 > 0, Assistant: 20}
	out := b.shape(body)
	if out.Report.Err != nil && json.Valid([]byte(body)) {
		t.Fatalf("%v\n%s", out.Report.Err, body)
	}
	judged(t, b, body, out)
	if json.Valid([]byte(body)) && !json.Valid(out.Body) {
		t.Fatalf("this is no JSON any more: %q", out.Body)
	}
	if again := b.shape(body); out.Report.Err == nil && string(again.Body) != string(out.Body) {
		t.Fatalf("asked again, another body is sent: %s", firstDifference(string(out.Body), string(again.Body)))
	}
}
