package messages

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

func read(body string) (*conversation.Request, error) { return Dialect{}.Read([]byte(body), nil) }

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
	search  = `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`
	found   = `{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`
)

// described is what was read of each item.
func described(r *conversation.Request) string {
	var all []string
	for i := range r.Items {
		it := &r.Items[i]
		line := it.Role.String()
		for _, p := range it.Parts {
			line += fmt.Sprintf(" %s%s", [...]string{"?", "", "image ", "audio ", "file "}[p.Kind], p.Value.Of(r.Body))
		}
		for _, c := range it.Calls {
			line += fmt.Sprintf(" call %s %s %s", c.ID, c.Name, c.Arguments.Of(r.Body))
		}
		for _, t := range it.Thinking {
			line += fmt.Sprintf(" thinks %s", t.Text.Of(r.Body))
		}
		if it.Answers != "" {
			line += " answers " + it.Answers
		}
		for _, flag := range []struct {
			is   bool
			name string
		}{{it.StartsAnswer, "starts"}, {it.Locked, "locked"}, {it.Compaction, "compaction"}, {it.IsError, "failed"},
			{len(it.Marks) > 0, "marked"}, {it.OnlyThinks(), "only thinks"}} {
			if flag.is {
				line += " " + flag.name
			}
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func TestItemsOfEveryKind(t *testing.T) {
	loads := `{"type":"tool_result","tool_use_id":"1","content":[{"type":"tool_reference","tool_name":"b"}]}`
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"d"}}`
	for _, c := range []struct{ want, messages string }{
		{`user "do"`, task},
		{`user "a" "b" marked`, user(text("a"), marked(text("b")))},
		{`user`, user()},
		{"user \"do\"\nsystem \"by the way\"\nassistant \"done\" starts\nassistant \"done\"",
			task + "," + aside + "," + done + "," + done},
		{"assistant \"so\" call 1 a {} call 2 b {} thinks \"hm\" starts\ntool \"r\" answers 1\ntool answers 2\nuser \"go\"",
			said(thought, text("so"), call, call2) + "," + user(result, result2, text("go"))},
		{`assistant thinks "hm" starts only thinks`, said(thought)},
		{`assistant thinks  starts only thinks`, said(`{"type":"redacted_thinking","data":"x"}`)},
		{"tool \"a\" image \"d\" answers 1 failed marked", user(`{"type":"tool_result","tool_use_id":"1","is_error":true,"content":[` +
			marked(text("a")) + "," + image + `]}`)},
		{`user image "u" file "d" file "u"`, user(`{"type":"image","source":{"type":"url","url":"u"}}`,
			`{"type":"document","source":{"media_type":"application/pdf","data":"d"}}`, `{"type":"document","source":{"url":"u"}}`)},
		{`user ?"d" ?{"type":"search_result","source":"s","content":[]}`,
			user(`{"type":"document","source":{"media_type":"text/plain","data":"d"}}`, `{"type":"search_result","source":"s","content":[]}`)},
		{`assistant ?` + search + ` ?` + found + ` starts`, said(search, found)},
		// The provider's own, and what is unknown, stay as they are.
		{"user \"do\"\nassistant ?\"c\" starts locked compaction", task + "," + said(`{"type":"compaction","content":"c"}`)},
		{`user ?{"type":"hologram"} locked`, user(`{"type":"hologram"}`)},
		{"assistant ?{\"type\":\"hologram\"} call 1 a {} starts locked\ntool \"r\" answers 1",
			said(`{"type":"hologram"}`, call) + "," + user(result)},
		{`user locked`, `{"role":"user","content":7}`},
		{`unknown "x" locked`, `{"role":"critic","content":"x"}`},
		{`system ?{"type":"tool_addition"} locked`, `{"role":"system","content":[{"type":"tool_addition"}]}`},
		// A result that makes a tool known stays.
		{"assistant call 1 a {} starts\ntool ?{\"type\":\"tool_reference\",\"tool_name\":\"b\"} answers 1 locked",
			said(call) + "," + user(loads)},
	} {
		if got := described(mustRead(t, c.messages)); got != c.want {
			t.Errorf("%s\nis read as\n%s\nwant\n%s", c.messages, got, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	r, err := read(`{"system":[{"type":"text","text":"s"}],"model":"claude-\u0034","stream":true,"max_tokens":100,
		"thinking":{"type":"enabled","budget_tokens":1024},"tools":[{"x":1}],"tool_choice":null,"messages":[` + task + `]}`)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %v %d %v %s %s %d", r.Model, r.Stream, r.MaxOutput, r.ThinksFirst, r.Tools.Of(r.Body),
		r.Prompts[0].Of(r.Body), len(r.Settings))
	if want := `claude-4 true 100 true [{"x":1}] "s" 1`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhoElseShortensTheConversation(t *testing.T) {
	for settings, want := range map[string]conversation.Upkeep{
		`"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`:                  conversation.NobodyElse,
		`"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}`:                              conversation.ProviderClears,
		`"thread":{"type":"continue"},"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}`: conversation.ProviderRemembers,
		`"thread":{"type":"continue"},"compaction":{"type":"summarize"}`:                                    conversation.ClientSummarizes,
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

func TestBadBodiesAreErrors(t *testing.T) {
	for _, body := range []string{
		``, `[]`, `{"messages":[`, `{"messages":[]} x`, `{"model":"m"}`, `{"messages":{}}`, `{"messages":[7]}`,
		`{"messages":[{"role":"user","role":"user"}]}`, `{"messages":[{"role":"user","content":[{"type":"text","type":"x"}]}]}`,
	} {
		if _, err := read(body); err == nil {
			t.Errorf("%s is read", body)
		}
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
	f(false, said(`{"type":"tool_use","id":"1","input":{"cache_control":1}}`), said(`{"type":"tool_use","id":"1","input":{}}`))
}

func TestKnownPrefixIsReadAsItWouldBeAgain(t *testing.T) {
	loads := `{"type":"tool_result","tool_use_id":"1","content":[{"type":"tool_reference","tool_name":"b"}]}`
	messages := []string{task, aside, said(thought, call), user(loads), said(text("so")), done, task,
		said(call2), user(result2, text("go")), done, user(text("a")), said(call), user(result)}
	for n := 1; n < len(messages); n++ {
		for m := n; m <= len(messages); m++ {
			known, body := mustRead(t, messages[:n]...), []byte(bodyOf(messages[:m]...))
			got, err := Dialect{}.Read(body, known)
			if err != nil {
				t.Fatal(err)
			}
			want := mustRead(t, messages[:m]...)
			if fmt.Sprint(got.Items) != fmt.Sprint(want.Items) || got.Head != want.Head {
				t.Fatalf("%d messages with %d known:\n%s\nwant\n%s", m, n, described(got), described(want))
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(bodyOf(task, said(thought, call), user(result, text("x"), result2, "7"))))
	f.Add([]byte(bodyOf(user(`{"type":"image","source":{"data":"x"}}`, `{"type":"document","source":{"url":"x"}}`))))
	f.Add([]byte(`{"system":[{"text":"x","cache_control":{}}],"messages":[{"content":[{"type":"tool_result","content":[{}]}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Dialect{}.Read(body, nil)
		if err != nil {
			return
		}
		at := 0
		for i := range r.Items {
			it := &r.Items[i]
			if it.Start < at || it.Start >= it.End || it.Start < it.Place().Start || it.End > it.Place().End {
				t.Fatalf("%q: item at %v in %v behind %d", body, it.Span, it.Place(), at)
			}
			at = it.End
		}
		r.Dialect.Flaws(r)
		r.Chain()
		if !jsonspan.Valid(body) {
			return
		}
		for i := range r.Items {
			out, err := jsonspan.Splice(body, r.Dialect.ReplaceContent(r, &r.Items[i], "stub"))
			if err != nil || !jsonspan.Valid(out) {
				t.Fatalf("%q becomes %q: %v", body, out, err)
			}
		}
	})
}

// What stands behind an item in its message is no part of its hash.
func TestHashesEndWithTheItem(t *testing.T) {
	empty := `{"type":"tool_result","tool_use_id":"1"}`
	var hashes []conversation.Hash
	for _, behind := range []string{"a", "b"} {
		r, err := read(bodyOf(task, said(call), user(empty, text(behind))))
		if err != nil || len(r.Items) != 4 || r.Items[2].Number != 3 || r.Items[3].Number != 3 {
			t.Fatalf("%v: %+v", err, r)
		}
		hashes = append(hashes, r.Items[2].Hash)
	}
	if hashes[0] != hashes[1] {
		t.Error("the hash of a result depends on the text behind it")
	}
}
