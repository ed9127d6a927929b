package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"epitome/dialect/chat"
	"epitome/rewrite"
	"epitome/window"
)

// A conversation whose first request was refused has the title and the kept lines that it would have had.
func TestRescuedConversationHasItsTitle(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"user","content":"Fix the shop.\nkeep: the till is open"}`)
	for i := range 40 {
		fmt.Fprintf(&b, `,{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"bash",`+
			`"arguments":"{}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i, i,
			strings.Repeat(fmt.Sprintf("part %d is well. ", i), 200))
	}
	b.WriteString("]}")
	limits, p := defaultLimits(), start(newStorage())
	p.window.Store(100_000)
	in := rewrite.Input{Dialect: chat.Dialect{}, Body: []byte(b.String()), Limits: &limits}
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
