package chat

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/rewrite/conversation"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/span"
)

const (
	task  = `{"role":"user","content":"do"}`
	two   = `{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":"2","function":{"name":"b","arguments":""}}]}`
	one   = `{"role":"tool","tool_call_id":"1","content":"r"}`
	other = `{"role":"tool","tool_call_id":"2","content":"r"}`
	done  = `{"role":"assistant","content":"done"}`
)

func TestFlawsAreFound(t *testing.T) {
	f := func(want string, messages ...string) {
		t.Helper()
		if got := fmt.Sprint(mustRead(t, rewritetest.ChatBody(messages...)).Flaws()); got != "["+want+"]" {
			t.Errorf("%s\nhas %s, want [%s]", strings.Join(messages, "\n"), got, want)
		}
	}
	f("", task, two, one, other, done)
	f("", task, two, other, one)
	f("", task, two)      // about to be answered
	f("", task, two, one) // in part
	f("a call is not answered (2)", task, two, one, done)
	f("a call is not answered (2)", task, two, one, task)
	f("a tool's result answers no call before it (1)", task, one)
	f("a tool's result answers no call before it (9)", task, two, one, other, `{"role":"tool","tool_call_id":"9"}`)
	f("a call is answered twice (1)", task, two, one, one, other)
	f("a result is apart from the message that called (2)", task, two, one, task, other)
	f("a call is not answered (2) a result is apart from the message that called (2)", task, two, one, done, other)
	f("a call's arguments are not JSON (x)", task, `{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"a","arguments":"{"}}]}`)
	f("a role is unknown (1)", task, `{"role":"moderator","content":"x"}`)
	f("an assistant's message has neither content nor calls (1)", task, `{"role":"assistant","content":null}`, task)
	f("", task, `{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}`, `{"role":"function","name":"f","content":"r"}`, done)
	f("a tool's result answers no call before it (function g)", task, `{"role":"assistant","content":"x"}`, `{"role":"function","name":"g","content":"r"}`)
}

func TestOnlyNewFlawsMakeARewriteWorse(t *testing.T) {
	f := func(worse bool, original, rewritten []string) {
		t.Helper()
		if err := conversation.Worse(mustRead(t, rewritetest.ChatBody(original...)), mustRead(t, rewritetest.ChatBody(rewritten...))); (err != nil) != worse {
			t.Errorf("%v\nto %v: %v", original, rewritten, err)
		}
	}
	whole := []string{task, two, one, other, done}
	f(false, whole, whole)
	f(false, whole, []string{task, done})
	f(true, whole, []string{task, one, other, done})
	f(true, whole, []string{task, two, one, done})
	broken := []string{task, one, two, one, other, done}
	f(false, broken, broken)
	f(false, broken, []string{task, one, done})
	f(true, broken, []string{task, one, one, done})
	odd := []string{`{"role":"odd"}`, task, done}
	f(false, odd, []string{task, `{"role":"odd"}`, done})
	f(true, odd, []string{`{"role":"odd"}`, `{"role":"odd"}`, done})
}

// Promise 2: outside of the edits a spliced body is the original, to the byte.
func TestSpliceChangesOnlySpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "body")
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(body)), 0, 12).Draw(t, "cuts")
		slices.Sort(cuts)
		var edits []span.Edit
		var want []byte
		at := 0
		for i := 0; i+1 < len(cuts); i += 2 {
			e := span.Edit{Span: span.Span{Start: cuts[i], End: cuts[i+1]}, With: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "with")}
			want = append(append(want, body[at:e.Start]...), e.With...)
			at = e.End
			edits = append(edits, e)
		}
		want = append(want, body[at:]...)
		places := make(map[span.Span]bool)
		for _, e := range edits {
			if places[e.Span] {
				t.Skip() // two insertions at one place have no order
			}
			places[e.Span] = true
		}
		slices.Reverse(edits)
		got, err := span.Splice(body, edits)
		if err != nil || string(got) != string(want) {
			t.Fatalf("got %q (%v), want %q", got, err, want)
		}
	})
	for _, edits := range [][]span.Edit{{{Span: span.Span{Start: 0, End: 2}, With: nil}, {Span: span.Span{Start: 1, End: 3}, With: nil}}, {{Span: span.Span{Start: 2, End: 1}, With: nil}}, {{Span: span.Span{Start: 0, End: 9}, With: nil}}, {{Span: span.Span{Start: -1, End: 1}, With: nil}}} {
		if _, err := span.Splice([]byte("abcd"), edits); err == nil {
			t.Errorf("edits %v were taken", edits)
		}
	}
}

// Promise 7: a link names exactly the items of its prefix.
func TestChainNamesThePrefixAndNothingElse(t *testing.T) {
	link := func(messages ...string) conversation.Link {
		t.Helper()
		chain := mustRead(t, rewritetest.ChatBody(messages...)).Chain()
		return chain[len(chain)-1]
	}
	same := func(a, b []string) {
		t.Helper()
		if link(a...) != link(b...) {
			t.Errorf("%v and %v have different links", a, b)
		}
	}
	differ := func(a, b []string) {
		t.Helper()
		if link(a...) == link(b...) {
			t.Errorf("%v and %v have one link", a, b)
		}
	}
	l := func(m ...string) []string { return m }
	same(l(task, done), l(`{ "content" : "do", "role":"user" }`, done))
	same(l(task), l(`{"role":"user","content":"do","cache_control":{"type":"ephemeral"}}`))
	same(l(`{"role":"user","content":[{"type":"text","text":"a"}]}`), l(`{"role":"user","content":[{"cache_control":{},"text":"a","type":"text"}]}`))
	same(l(task, done), l(task, `{"role":"assistant","content":"done","reasoning_content":"hm"}`))
	same(l(`{"role":"system","content":"now it is 10:00"}`, task), l(`{"role":"system","content":"now it is 11:00"}`, task))
	differ(l(task), l(`{"role":"user","content":"do "}`))
	differ(l(task), l(`{"role":"assistant","content":"do"}`))
	differ(l(task, done), l(done, task))
	differ(l(task, done), l(task))
	differ(l(task), l(`{"role":"user","content":"do","name":"ann"}`))
	differ(l(`{"role":"user","content":["a","b"]}`), l(`{"role":"user","content":["ab"]}`))
	differ(l(`{"role":"user","content":["a",["b"]]}`), l(`{"role":"user","content":[["a"],"b"]}`))
	differ(l(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:a"}}]}`), l(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:b"}}]}`))
	long := mustRead(t, rewritetest.ChatBody(task, two, one, other, done)).Chain()
	for i, short := range mustRead(t, rewritetest.ChatBody(task, two, one)).Chain() {
		if long[i] != short {
			t.Errorf("link %d changes with what comes behind it", i)
		}
	}
}

func TestQuotedTextIsReadBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		if got, err := span.Unquote(span.AppendQuoted(nil, s)); err != nil || got != strings.ToValidUTF8(s, "\ufffd") {
			t.Fatalf("%q is read back as %q (%v)", s, got, err)
		}
	})
	if got := string(span.AppendQuoted(nil, "<a href=\"x\">&\u2028\x00\x7f\n")); got != "\"<a href=\\\"x\\\">&\u2028\\u0000\x7f\\n\"" {
		t.Errorf("got %s", got)
	}
}
