package messages

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/internal/need"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

func read(body string) (*conversation.Request, error) { return Dialect{}.Read([]byte(body), nil) }

func mustRead(tb testing.TB, messages ...string) *conversation.Request {
	tb.Helper()
	r, err := read(bodyOf(messages...))
	if err != nil {
		tb.Fatalf("%.200q: %v", messages, err)
	}
	return r
}

func bodyOf(messages ...string) string {
	return `{"model":"claude-opus-5-5","max_tokens":9,"messages":[` + strings.Join(messages, ",") + `]}`
}

// told is what was read of each item, a line for each.
func told(r *conversation.Request) string {
	var all []string
	for i := range r.Items {
		it := &r.Items[i]
		line := fmt.Sprintf("%s %s", it.Role, it.Content.Of(r.Body))
		if it.Answers != "" {
			line += " answers " + it.Answers
		}
		for _, c := range it.Calls {
			line += fmt.Sprintf(" call %s %s %s", c.ID, c.Name, c.Arguments.Of(r.Body))
		}
		for _, t := range it.Thinking {
			line += fmt.Sprintf(" thought %s", t.Text.Of(r.Body))
		}
		for _, flag := range []struct {
			is   bool
			name string
		}{{it.Begins, "begins"}, {it.Pinned, "pinned"}, {it.Locked, "locked"}, {it.Compacts, "compacts"},
			{it.Verdict == conversation.WentWell, "well"}, {it.Verdict == conversation.WentWrong, "wrong"}} {
			if flag.is {
				line += " " + flag.name
			}
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func TestRequestIsReadAsSpans(t *testing.T) {
	body := ` { "messages" : [
		{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"xyz"}}]},
		{"role":"system","content":"by the way"},
		{"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I will"},
			{"type":"tool_use","id":"1","name":"read","input":{"path":"a"}},{"id":"2","type":"tool_use","name":"ls","input":{}}],"role":"assistant"},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r1","is_error":false},
			{"type":"tool_result","tool_use_id":"2","is_error":true,"content":[{"type":"text","text":"r2"}]},{"type":"text","text":"go on"} , {"type":"text","text":"now"}]},
		{"role":"assistant","content":"done"} ], "system":[{"type":"text","text":"s"}], "model" : "claude-\u0034",
		"stream":true,"max_tokens":100,"tools":[{"x":1}] } `
	r, err := read(body)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`user {"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"xyz"}}`,
		`system "by the way"`,
		`assistant "I will" call 1 read {"path":"a"} call 2 ls {} thought "hm" begins`,
		`tool "r1" answers 1 well`, `tool [{"type":"text","text":"r2"}] answers 2 wrong`,
		`user {"type":"text","text":"go on"} , {"type":"text","text":"now"}`,
		`assistant "done" begins`,
	}, "\n")
	if got := told(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r.Model != "claude-4" || !r.Stream || r.MaxOutput != 100 || r.Head != 0 || string(r.Tools.Of(r.Body)) != `[{"x":1}]` ||
		string(r.LeadingBlock()) != `[{"type":"text","text":"s"}]` {
		t.Errorf("got %q %v %d %d %q %q", r.Model, r.Stream, r.MaxOutput, r.Head, r.Tools.Of(r.Body), r.LeadingBlock())
	}
	// what the last answer says may not be all of it yet
	if got, want := fmt.Sprint(r.Groups(), r.Turns(), r.Decidable()), "[{0 1} {1 2} {2 5} {5 6} {6 7}] [0 5] 5"; got != want {
		t.Errorf("groups, turns and what can be decided are %s, want %s", got, want)
	}
}

// A part of an answer is none: without its first message one may begin with what only goes on.
func TestAnAnswerToWhichTheModelMayAddIsDecidedOnAsAWhole(t *testing.T) {
	f := func(want int, messages ...string) {
		t.Helper()
		if got := mustRead(t, messages...).Decidable(); got != want {
			t.Errorf("of %s %d items can be decided on, want %d", messages, got, want)
		}
	}
	more := `{"role":"assistant","content":"and more"}`
	f(0, task, done)
	f(0, task, done, more)
	f(4, task, two, both, done, more, more)
	f(6, task, two, both, done, more, task)
}

func TestBlocksAreReadByWhatTheyAre(t *testing.T) {
	f := func(want string, messages ...string) {
		t.Helper()
		if got := told(mustRead(t, messages...)); got != want {
			t.Errorf("%s\nis read as\n%s\nwant\n%s", messages, got, want)
		}
	}
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	said := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	call, result := `{"type":"tool_use","id":"1","name":"x","input":{}}`, `{"type":"tool_result","tool_use_id":"1"}`
	f(`user "x"`, `{"role":"user","content":"x"}`)
	f(`user []`, user(""))
	f(`assistant  begins`, said(""))
	f("assistant  call 1 x {} begins\ntool  answers 1", said(call), user(result))
	f(`assistant "a" begins`, said(`{"type":"text","text":"a"}`))
	f(`assistant [{"type":"text","text":"a"},{"type":"text","text":"b"}] begins`, said(`{"type":"text","text":"a"},{"type":"text","text":"b"}`))
	f("assistant \"a\" begins\nassistant \"b\"", `{"role":"assistant","content":"a"}`, `{"role":"assistant","content":"b"}`)
	// what nobody knows stays, with all that belongs to it
	f(`user {"type":"hologram"} pinned locked`, user(`{"type":"hologram"}`))
	f(`user "x", {"type":"text","text":"a"} pinned locked`, user(`"x", {"type":"text","text":"a"}`))
	f(`user  pinned locked`, `{"role":"user","content":7}`)
	f(`user  pinned locked`, `{"role":"user"}`)
	f("unknown \"x\" pinned", `{"role":"critic","content":"x"}`)
	critic := `{"role":"critic","content":[` + result + `]}` // it may answer what was called
	f("assistant  call 1 x {} begins pinned\nunknown ["+result+"] pinned", said(call), critic)
	f("assistant [{\"type\":\"hologram\"},"+call+"] call 1 x {} begins pinned locked\ntool  answers 1 pinned", said(`{"type":"hologram"},`+call), user(result))
	loads := `{"type":"tool_result","tool_use_id":"1","content":[{"type":"tool_reference","tool_name":"y"}]}`
	f("assistant  call 1 x {} begins pinned\ntool "+`[{"type":"tool_reference","tool_name":"y"}]`+" answers 1 pinned locked", said(call), user(loads))
	search := `{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`
	f(`assistant [`+search+`] begins`, said(search))
	compacted := `{"type":"compaction","content":"c"}`
	f("user \"x\"\nassistant ["+compacted+"] begins pinned locked compacts", `{"role":"user","content":"x"}`, said(compacted))
	r := mustRead(t, `{"role":"user","content":"x"}`, said(compacted), `{"role":"user","content":"y"}`)
	if r.Upkeep.Fixed != 2 {
		t.Errorf("behind a compaction %d items are fixed, want 2", r.Upkeep.Fixed)
	}
}

func TestPartsAreWhatIsSaidAndShown(t *testing.T) {
	f := func(blocks, want string) {
		t.Helper()
		r := mustRead(t, `{"role":"user","content":[`+blocks+`]}`)
		list, err := r.Parts(&r.Items[0])
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range list {
			got += fmt.Sprintf("%d %s;", p.Kind, p.Value.Of(r.Body))
		}
		if got != want {
			t.Errorf("%s has the parts %s, want %s", blocks, got, want)
		}
	}
	f(`{"type":"text","text":"a"}, {"type":"text","text":"b","cache_control":{"type":"ephemeral"}}`, `1 "a";1 "b";`)
	f(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"d"}}`, `2 "d";`)
	f(`{"type":"image","source":{"type":"url","url":"u"}}`, `2 "u";`)
	f(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"d"}}`, `4 "d";`)
	f(`{"type":"document","source":{"type":"url","url":"u"}}`, `4 "u";`)
	f(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}}`, `0 "d";`)
	f(`{"type":"search_result","source":"s","content":[]}`, `0 {"type":"search_result","source":"s","content":[]};`)
	f(`{"type":"text"}`, `0 {"type":"text"};`)
}

func TestWhatIsBetterLeftAloneIsRefused(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if _, err := read(body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: error %v, want one that says %q", body, err, want)
		}
	}
	f(``, "not JSON")
	f(`[]`, "the body is no JSON object")
	f(`{"messages":[`, "not JSON")
	f(`{"messages":[]} x`, "not JSON")
	f(`{"model":"m"}`, "no messages")
	f(`{"messages":{}}`, "messages is not a list")
	f(`{"messages":[7]}`, "message 0: it is not an object")
	f(`{"messages":[{"role":"user","content":[{"type":"text","type":"x"}]}]}`, "twice")
	f(`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"a":1,"a":2}]}]}]}`[:60], "not JSON")
	f(`{"messages":[{"role":"user","role":"user"}]}`, "message 0: a key stands twice")
	f(`{"a":`+strings.Repeat("[", 1_000_000), "too deep")
}

// Promise 7: a link names exactly the items of its prefix, but for what moves by itself.
func TestChainNamesThePrefixAndNothingElse(t *testing.T) {
	link := func(messages ...string) conversation.Link {
		t.Helper()
		chain := mustRead(t, messages...).ChainFrom(nil)
		return chain[len(chain)-1]
	}
	l := func(m ...string) []string { return m }
	f := func(same bool, a, b []string) {
		t.Helper()
		if (link(a...) == link(b...)) != same {
			t.Errorf("the links of %v and %v are the same: %v", a, b, !same)
		}
	}
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	said := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	const mark = `,"cache_control":{"type":"ephemeral"}}`
	marked := func(b string) string { return strings.TrimSuffix(b, "}") + mark }
	result := `{"type":"tool_result","tool_use_id":"1","content":"r"}`
	do := user(text("do"))

	f(true, l(do), l(`{"content":"do", "role":"user"}`))
	f(true, l(do), l(user(marked(text("do")))))
	f(true, l(said(text("a"))), l(`{"role":"assistant","content":"a"}`))
	f(true, l(said(`{"type":"thinking","thinking":"hm","signature":"s"},`+text("a"))), l(`{"role":"assistant","content":"a"}`))
	f(true, l(said(`{"type":"redacted_thinking","data":"s"},`+text("a")+`,`+text("b"))), l(said(text("a")+","+text("b"))))
	f(true, l(user(result)), l(user(marked(result))))
	f(true, l(user(result)), l(user(`{"content":[`+marked(text("r"))+`],"tool_use_id":"1","type":"tool_result"}`)))
	f(true, l(user(result+","+text("x"))), l(user(result), user(text("x"))))
	f(true, l(said(`{"type":"tool_use","id":"1","name":"x","input":{"a":1,"b":2}}`)), l(said(`{"type":"tool_use","id":"1","name":"x","input":{"b":2,"a":1}}`)))

	f(false, l(do), l(user(text("do "))))
	f(false, l(do), l(`{"role":"assistant","content":"do"}`))
	f(false, l(do), l(`{"role":"system","content":"y"}`, do, do))
	f(false, l(user(result)), l(user(`{"type":"tool_result","tool_use_id":"2","content":"r"}`)))
	f(false, l(user(result)), l(user(`{"type":"tool_result","tool_use_id":"1","content":"r","is_error":true}`)))
	f(false, l(user(text("a")+","+text("b"))), l(user(text("ab"))))
	f(false, l(do), l(`{"role":"user","content":[`+text("do")+`],"x":1}`))
	f(false, l(user(text("do")+`,{"type":"image","source":{"data":"a"}}`)), l(user(text("do")+`,{"type":"image","source":{"data":"b"}}`)))
	f(false, l(said(`{"type":"tool_use","id":"1","name":"x","input":{"cache_control":1}}`)), l(said(`{"type":"tool_use","id":"1","name":"x","input":{}}`)))
	f(false, l(said(`{"type":"compaction","content":"a"}`), do), l(said(`{"type":"compaction","content":"b"}`), do))
}

// Bodies that clients sent are read without loss: what the standard decoder finds stands in an item.
func TestRealBodiesAreReadWhole(t *testing.T) {
	folder := os.Getenv("EPITOME_CLIENTS")
	if folder == "" {
		need.Skip(t, "no bodies of clients here: set EPITOME_CLIENTS to a folder of them")
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "-headers.json") ||
			!strings.Contains(file, "anthropic") && !strings.Contains(file, "claude") {
			continue
		}
		r, err := read(string(body))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var std struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(body, &std); err != nil {
			t.Fatal(err)
		}
		if n := countMessages(r); n != len(std.Messages) {
			t.Errorf("%s: %d messages, the standard decoder has %d", file, n, len(std.Messages))
		}
		if flaws := r.Flaws(); len(flaws) > 0 {
			t.Errorf("%s: flaws %v", file, flaws)
		}
		r.MarkOpaque(0)
		if r.Opaque {
			t.Errorf("%s: there is something in it that nobody knows", file)
		}
	}
}

// countMessages counts the messages that hold the items.
func countMessages(r *conversation.Request) (n int) {
	for i := range r.Items {
		if i == 0 || r.Items[i].Place() != r.Items[i-1].Place() {
			n++
		}
	}
	return n
}

func FuzzReadNeverBreaks(f *testing.F) {
	f.Add([]byte(bodyOf(`{"role":"user","content":"x"}`)))
	f.Add([]byte(bodyOf(`{"role":"assistant","content":[{"type":"thinking"},{"type":"tool_use","id":"1","name":"a","input":{}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text"}]},{"type":"text"},7]}`)))
	f.Add([]byte(bodyOf(`{"role":"user","content":[{"type":"image","source":{"data":"x"}}, {"type":"document","source":{"url":"x"}}]}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Dialect{}.Read(body, nil)
		if err != nil {
			return
		}
		at := 0
		for i := range r.Items {
			it := &r.Items[i]
			place := it.Place()
			inside := it.Start >= place.Start && it.End <= place.End
			if it.Start < at || it.End > len(body) || it.Start >= it.End || !inside {
				t.Fatalf("%q: item at %v in %v behind %d", body, it.Span, place, at)
			}
			at = it.End
			_, _ = r.Parts(it) // some cannot be read
		}
		r.Flaws()
		if len(r.ChainFrom(nil)) != len(r.Items)-r.Head+1 {
			t.Fatalf("%q: a chain of %d links for %d items", body, len(r.ChainFrom(nil)), len(r.Items)-r.Head)
		}
		if !span.Valid(body) {
			return
		}
		var std struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(body, &std); err == nil && len(std.Messages) != countMessages(r) &&
			strings.Count(strings.ToLower(string(body)), `messages"`) == 1 {
			t.Fatalf("%q: %d messages, the standard decoder has %d", body, countMessages(r), len(std.Messages))
		}
	})
}
