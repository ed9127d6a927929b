package view_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/rewrite/ledger"
	"epitome/rewrite/view"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
)

// talk is a conversation of so many turns, each with a message of the user, a call and its result.
func talk(t *rapid.T, turns int) view.View {
	messages := []string{`{"role":"system","content":"Be brief."}`}
	for i := range turns {
		messages = append(messages, `{"role":"user","content":"Go on, please."}`,
			fmt.Sprintf(`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c%d","type":"function",`+
				`"function":{"name":"bash","arguments":"{}"}}]}`, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"all of it"}`, i))
	}
	body := `{"model":"gpt-4o","messages":[` + strings.Join(messages, ",") + `]}`
	r, err := conversation.Read(chat.Dialect{}, []byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	fixed := r.Count(conversation.Scale{Model: tokenize.ModelOf(r.Model), Memo: tokenize.NewMemo(1 << 10), Ratio: 1})
	return view.Of(r, fixed, nil)
}

// anyEdit is an edit of a turn or of more, as a step may make it.
func anyEdit(t *rapid.T, turns int) view.Edit {
	first := 2 + 3*rapid.IntRange(0, turns-1).Draw(t, "turn") // the answer
	text := rapid.SampledFrom([]string{"", "It went well.", "Twelve lines left."}).Draw(t, "text")
	e := view.Edit{First: first + 1, Count: 1, Text: text, Tokens: len(text), Saved: 1, Step: view.StepClear}
	switch rapid.IntRange(0, 2).Draw(t, "op") {
	case 0:
		e.Op = view.Clear
	case 1:
		e.Op, e.Step = view.ReplaceText, view.StepOffload
	case 2:
		e.Op, e.Step, e.First, e.Count = view.Drop, view.StepCompact, first, 2
		for range rapid.IntRange(0, 4).Draw(t, "more") {
			if e.End()+3 <= 1+3*turns {
				e.Count += 3
			}
		}
		e.Words = summarize.Says{Text: text, Until: e.End()}
	}
	return e
}

// Promises 3 and 5: whatever is decided, edits do not overlap, the body keeps the rules of its API, and what is recorded
// is sent again byte for byte.
func TestRandomEditsStayApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := rapid.IntRange(1, 12).Draw(t, "turns")
		v := talk(t, turns)
		for range rapid.IntRange(1, 12).Draw(t, "edits") {
			v = v.With(anyEdit(t, turns))
			owners := make([]int, len(v.Forms)) // by item: edits that say how it is sent
			for _, e := range v.Edits {
				for i := e.First; i < e.End(); i++ {
					owners[i]++
				}
			}
			if slices.Max(owners) > 1 {
				t.Fatalf("items have %d edits: %+v", owners, v.Edits)
			}
		}
		body, err := v.Render(nil)
		if err != nil || !jsonspan.Valid(body) || v.Verify(body) != nil {
			t.Fatalf("%v, %v: %s", err, v.Verify(body), body)
		}
		l, r := ledger.New(store.NewMemory(1<<20), time.Hour), v.Request
		of := ledger.Request{Scope: "s", Chain: r.Chain(), Head: r.Head, End: r.End(), Ends: r.Ends()}
		_, _, err = l.Record(of, ledger.Decision{Items: r.End(), Edits: v.Edits, Added: v.New}, false)
		found, err2 := l.Find(of, ledger.Decision{})
		again := view.Of(r, r.Count(conversation.Scale{}), found.Edits)
		sent, err3 := again.Render(nil)
		if err != nil || err2 != nil || err3 != nil || !bytes.Equal(sent, body) || again.Total != v.Total {
			t.Fatalf("%v, %v, %v: %s is sent after %s", err, err2, err3, sent, body)
		}
	})
}
