package messages

import (
	"strings"
	"testing"

	"epitome/dialect/conversation"
)

func read(body string) (*conversation.Request, error) {
	return conversation.Read(Dialect{}, []byte(body), nil)
}

func bodyOf(messages ...string) string {
	return `{"model":"claude-opus-5-5","max_tokens":9,"messages":[` + strings.Join(messages, ",") + `]}`
}

func mustRead(tb testing.TB, messages ...string) *conversation.Request {
	tb.Helper()
	r, err := read(bodyOf(messages...))
	if err != nil {
		tb.Fatalf("%.200q: %v", messages, err)
	}
	return r
}

func user(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func said(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

func text(s string) string { return `{"type":"text","text":"` + s + `"}` }

// marked is a block with a mark.
func marked(block string) string {
	return strings.TrimSuffix(block, "}") + `,"cache_control":{"type":"ephemeral"}}`
}

const (
	task    = `{"role":"user","content":"do"}`
	done    = `{"role":"assistant","content":"done"}`
	aside   = `{"role":"system","content":"by the way"}`
	call    = `{"type":"tool_use","id":"1","name":"a","input":{}}`
	call2   = `{"type":"tool_use","id":"2","name":"b","input":{}}`
	result  = `{"type":"tool_result","tool_use_id":"1","content":"r"}`
	result2 = `{"type":"tool_result","tool_use_id":"2"}`
	thought = `{"type":"thinking","thinking":"hm","signature":"s"}`
)

func TestWhoElseShortensTheConversation(t *testing.T) {
	const clears = `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}`
	for settings, want := range map[string]conversation.Upkeep{
		`"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`: conversation.NobodyElse,
		clears:                                   conversation.ProviderClears,
		`"thread":{"type":"continue"},` + clears: conversation.ProviderRemembers,
		`"thread":{"type":"continue"},"compaction":{"type":"summarize"}`: conversation.ClientSummarizes,
	} {
		r, err := read(`{` + settings + `,"messages":[` + task + `]}`)
		if err != nil || r.Upkeep != want {
			t.Errorf("%s: got %v, want %v (%v)", settings, r.Upkeep, want, err)
		}
	}
	r := mustRead(t, task, said(call), user(result, text("CRITICAL: Respond with TEXT ONLY. Do not")))
	if r.Upkeep != conversation.ClientSummarizes {
		t.Error("Claude Code's request for a summary is not recognized")
	}
}

func TestEqualContentsHaveEqualHashes(t *testing.T) {
	f := func(same bool, a, b string) {
		t.Helper()
		ra, rb := mustRead(t, a), mustRead(t, b)
		if got := ra.Chain()[len(ra.Items)] == rb.Chain()[len(rb.Items)]; got != same {
			t.Errorf("%s and %s are the same: %v", a, b, got)
		}
	}
	do := user(text("do"))
	f(true, do, `{"content":"do", "role":"user"}`)
	f(true, do, user(marked(text("do"))))
	f(true, said(thought, text("done")), done)
	f(true, said(`{"type":"redacted_thinking","data":"s"}`, text("a"), text("b")), said(text("a"), text("b")))
	f(true, user(result), user(marked(result)))
	f(true, user(result), user(`{"content":[`+marked(text("r"))+`],"tool_use_id":"1","type":"tool_result"}`))
	f(true, user(result, text("x")), user(result)+","+user(text("x")))
	f(false, do, user(text("do ")))
	f(false, do, said(text("do")))
	f(false, user(text("ab")), user(text("a"), text("b")))
	f(false, user(result), user(strings.Replace(result, "1", "2", 1)))
	f(false, user(result), user(strings.TrimSuffix(result, "}")+`,"is_error":true}`))
	f(false, said(`{"type":"tool_use","id":"1","input":{"cache_control":1}}`),
		said(`{"type":"tool_use","id":"1","input":{}}`))
}

// A document of the user is named, and none of what it says counts as the user's words. A title makes another item.
func TestDocumentsAreNobodysWords(t *testing.T) {
	const keepMe = `\nkeep: this`
	for document, want := range map[string]string{
		`{"type":"document","title":"Plan","source":{"type":"text","data":"a` + keepMe + `"}}`:  `text file "Plan" (about 1 KB)`,
		`{"type":"document","source":{"type":"content","content":[` + text("a"+keepMe) + `]}}`:  `text file (about 1 KB)`,
		`{"type":"search_result","title":"Plan","source":"x","content":[` + text(keepMe) + `]}`: `text file "Plan" (about 1 KB)`,
		`{"type":"document","title":"Plan","source":{"type":"base64","data":"JVBERi0="}}`:       `document "Plan" (about 1 KB)`,
		`{"type":"document","title":"Plan","source":{"type":"url","url":"https://a/b"}}`:        `document "Plan"`,
	} {
		r, other := mustRead(t, user(document, text("do"))), mustRead(t, user(strings.Replace(document, "Plan", "P", 1), text("do")))
		it := &r.Items[0]
		if got := r.Media(it); got != want || r.OwnWords(0) != "do" || r.KeepLines(0, 1) != nil || it.Locked {
			t.Errorf("%s is %q, and the user says %q", document, got, r.OwnWords(0))
		}
		if strings.Contains(document, "Plan") && other.Chain()[1] == r.Chain()[1] {
			t.Errorf("%s has the hash of another title", document)
		}
	}
}
