package rewrite_test

import (
	"strings"
	"testing"

	"epitome/dialect/chat"
	"epitome/rewrite"
	"epitome/window"
)

// A conversation whose first request was refused has the title and the kept lines that it would have had.
func TestRescuedConversationHasItsTitle(t *testing.T) {
	list := append([]exchange{{user: "Hi.\nkeep: the till is open", said: "Well."}}, commands(40)...)
	limits, p := defaultLimits(), start(newStorage())
	p.window.Store(100_000)
	in := rewrite.Input{Dialect: chat.Dialect{}, Body: bodyOf("chat", list), Limits: &limits}
	first := p.Shape(in)
	rescue := rewrite.NewRescue(in, first, p.Shape)
	if !rescue.Next(window.Refusal{Cause: window.Input, Limit: 20_000}) {
		t.Fatal("there is no shorter form")
	}
	r := rescue.Last.Report
	if r.Title == "" || r.Title != first.Report.Title || len(r.Kept) != 1 {
		t.Errorf("the title is %q, kept are %q; before the refusal %q, %q", r.Title, r.Kept, first.Report.Title,
			first.Report.Kept)
	}
}

// Promise 8: some servers number the calls of each answer alike. Of two such calls without a result none gets a result
// that comes later, as it may be the other's.
func TestLateResultOfARepeatedIDIsNobodys(t *testing.T) {
	call := `{"role":"assistant","tool_calls":[{"id":"call_0","type":"function",` +
		`"function":{"name":"bash","arguments":"{}"}}]}`
	body := `{"model":"m","messages":[{"role":"user","content":"Look."},` + call + `,` +
		`{"role":"user","content":"Go on."},` + call + `,{"role":"user","content":"Well?"},` +
		`{"role":"tool","tool_call_id":"call_0","content":"The shop is closed."},{"role":"user","content":"And?"}]}`
	s, limits := newStorage(), defaultLimits()
	p := start(s)
	p.window.Store(100_000)
	out := p.Shape(rewrite.Input{Dialect: chat.Dialect{}, Body: []byte(body), Limits: &limits, Now: s.now,
		Rescue: &rewrite.Rescue{Pair: true}})
	sent := string(out.Body)
	if strings.Count(sent, "no result was recorded") != 2 || strings.Contains(sent, "The shop is closed.") {
		t.Errorf("%+v sends %s", out.Report, sent)
	}
}
