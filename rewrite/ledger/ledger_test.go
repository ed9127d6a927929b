package ledger

import (
	"testing"
	"time"

	"epitome/rewrite/conversation"
	"epitome/store/memory"
)

// A decision that was refused is replaced at every prefix at which it stands.
func TestReplaceAtEveryPrefix(t *testing.T) {
	l, lane := New(memory.New(1<<20, time.Now), time.Hour), Lane{Model: "m", Dialect: "chat"}
	chain := []conversation.Link{{0}, {1}, {2}}
	put := func(
		write func(Lane, conversation.Link, Decision, []Edit) (Decision, error), d Decision, items int, text string,
	) {
		t.Helper()
		d.Items, d.Edits, d.List = items, nil, ""
		standing, err := write(lane, chain[items], d, []Edit{{Op: Clear, Text: text, First: 0, Count: 1}})
		if err != nil || standing.Edits[0].Text != text {
			t.Errorf("at prefix %d stands %+v, not %s: %v", items, standing.Edits, text, err)
		}
	}
	put(l.Record, Decision{}, 1, "refused")
	put(l.Record, Decision{}, 2, "refused")
	d, err := l.Find(lane, chain, []int{2, 1}, 0)
	if err != nil || d.Items != 2 {
		t.Fatalf("found the decision of prefix %d, %v", d.Items, err)
	}
	put(l.Replace, d, 1, "taken")
	put(l.Replace, d, 2, "taken")
}
