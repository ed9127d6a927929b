package plan

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/messages"
)

// talks are messages of all kinds whose order matters.
var talks = []string{
	`{"role":"user","content":"go"}`, `{"role":"assistant","content":"so"}`, `{"role":"system","content":"be brief"}`,
	`{"role":"odd","content":"so"}`, `{"role":"assistant","content":""}`,
	`{"role":"assistant","content":[{"type":"thinking","thinking":"so","signature":"x"}]}`,
	`{"role":"assistant","content":[{"type":"thinking","thinking":"so","signature":"x"},{"type":"text","text":"So."}]}`,
}

// Whatever is left out one after the other, in any order, may stand where looking at all of it anew says so.
func TestASequenceKnowsWhatBreaksTheOrder(t *testing.T) {
	took, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(talks), 2, 20).Draw(t, "messages")
		r, err := messages.Dialect{}.Read([]byte(`{"messages":[`+strings.Join(list, ",")+`]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := len(r.Items) - r.Head
		p := &Plan{Req: r, Forms: make([]*decision.Form, n)}
		order := SequenceOf(p)
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			from := rapid.IntRange(0, max(0, n-1)).Draw(t, "from")
			if n == 0 || p.Forms[from] != nil {
				continue
			}
			if len(r.Items[r.Head+from].Thinking) > 0 && rapid.Bool().Draw(t, "unthought") {
				p.Forms[from] = &decision.Form{Said: "name"}
				order.Unthought(from)
				continue
			}
			to := from + 1
			for to < n && p.Forms[to] == nil && rapid.Bool().Draw(t, "more") {
				to++
			}
			message := rapid.SampledFrom([]string{"", string(r.Dialect.Message(conversation.User, "left out")),
				string(r.Dialect.Message(conversation.Assistant, "left out"))}).Draw(t, "message")
			p.Forms[from] = &decision.Form{Fold: to - from, With: message}
			for k := from + 1; k < to; k++ {
				p.Forms[k] = &decision.Form{Gone: true}
			}
			stands, want := order.Stands(from, to, message), !BreaksOrder(p)
			if stands != want {
				t.Fatalf("%s: items %d to %d may be left out for %q: %v, want %v", list, from, to-1, message, stands, want)
			}
			if took++; !stands {
				clear(p.Forms[from:to])
				took, refused = took-1, refused+1
			}
		}
	})
	if took == 0 || refused == 0 {
		t.Errorf("%d were taken, %d refused: the test shows nothing", took, refused)
	}
}
