package chat

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

func read(tb testing.TB, body string) *conversation.Request {
	tb.Helper()
	r, err := Dialect{}.Read([]byte(body), nil)
	if err != nil {
		tb.Fatalf("%.200s: %v", body, err)
	}
	return r
}

func bodyOf(messages ...string) string { return `{"messages":[` + strings.Join(messages, ",") + `]}` }

// show writes an item in a line.
func show(r *conversation.Request, it *conversation.Item) string {
	of := func(s jsonspan.Span) string { return string(s.Of(r.Body)) }
	line := it.Role.String()
	if it.Name != "" {
		line += " name=" + it.Name
	}
	if it.Answers != "" {
		line += " answers=" + it.Answers
	}
	if !it.Content.Empty() {
		line += " " + of(it.Content)
	}
	for _, p := range it.Parts {
		line += fmt.Sprintf(" part%d=%s", p.Kind, of(p.Value)+of(p.Detail))
	}
	for _, c := range it.Calls {
		line += fmt.Sprintf(" call %s %s %s %v", c.ID, c.Name, of(c.Arguments), c.FreeText)
	}
	return line
}

func TestReadItems(t *testing.T) {
	f := func(message, want string) {
		t.Helper()
		r := read(t, bodyOf(message))
		it := &r.Items[0]
		if got := show(r, it); got != want || string(it.Of(r.Body)) != message {
			t.Errorf("%s\n got %s\nwant %s", message, got, want)
		}
	}
	f(`{"content":"d","role":"developer"}`, `system "d" part1="d"`)
	f(`{"role":"user","content":"a \"q\" \\","name":"ann"}`, `user name=ann "a \"q\" \\" part1="a \"q\" \\"`)
	f(`{"role":"user","content":[{"type":"text","text":"a"},"b"]}`, `user [{"type":"text","text":"a"},"b"] part1="a" part1="b"`)
	f(`{"role":"user","content":[{"type":"image_url","image_url":{"detail":"low","url":"x"}}]}`,
		`user [{"type":"image_url","image_url":{"detail":"low","url":"x"}}] part2="x""low"`)
	f(`{"role":"user","content":[{"image_url":"x"}]}`, `user [{"image_url":"x"}] part2="x"`)
	f(`{"role":"user","content":[{"input_audio":{"data":"x","format":"wav"}},{"file":{"file_data":"y"}}]}`,
		`user [{"input_audio":{"data":"x","format":"wav"}},{"file":{"file_data":"y"}}] part3="x""wav" part4="y"`)
	f(`{"role":"user","content":[{"type":"odd","text":1}]}`, `user [{"type":"odd","text":1}] part0={"type":"odd","text":1}`)
	f(`{"role":"assistant","content":null,"reasoning":"a","reasoning_content":"ab","tool_calls":[`+
		`{"id":"1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},`+
		`{"id":"2","type":"custom","custom":{"name":"patch","input":"*** free"}}]}`,
		`assistant call 1 read "{\"path\":\"a\"}" false call 2 patch "*** free" true`)
	f(`{"role":"tool","tool_call_id":"1","content":"r"}`, `tool answers=1 "r" part1="r"`)
	f(`{"role":"odd","content":""}`, `unknown "" part1=""`)
}

func TestReadSettings(t *testing.T) {
	r := read(t, ` { "model" : "gpt-\u0035" , "stream":true,"max_tokens":100,"max_completion_tokens":200, "tools":[{"x":1}],
		"x":{"messages":[]}, "messages" : [ {"role":"system","content":"s"}, {"role":"user","content":"u"} ], "tool_choice":"auto" } `)
	if r.Model != "gpt-5" || !r.Stream || r.MaxOutput != 200 || r.Lead != 1 || r.Head != 2 || r.Unpriced ||
		string(r.Tools.Of(r.Body)) != `[{"x":1}]` || len(r.Settings) != 1 || r.Upkeep != conversation.NobodyElse {
		t.Errorf("got %+v", r)
	}
	summary := read(t, bodyOf(`{"role":"user","content":"Provide a detailed prompt for continuing our conversation above"}`))
	if summary.Upkeep != conversation.ClientSummarizes {
		t.Error("the client's own summary is not noticed")
	}
	for _, body := range []string{
		`{"messages":[],"response_format":{"type":"json_schema"}}`,
		bodyOf(`{"role":"user","content":[{"type":"odd"}]}`),
	} {
		if !read(t, body).Unpriced {
			t.Errorf("%s has a price", body)
		}
	}
}

func TestOddBodiesAreLeftAlone(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if _, err := (Dialect{}).Read([]byte(body), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: error %v, want one that says %q", body, err, want)
		}
	}
	f(`{"messages":[]} x`, "not JSON")
	f(`{"messages":[{"role":"user"`, "not JSON")
	f(`{"model":"m"}`, "no messages")
	f(`{"functions":[{"name":"f"}],"messages":[]}`, "functions")
	f(`{"messages":[{"role":"user","role":"system"}]}`, "item 0: a key stands twice")
	f(`{"messages":[{"role":"assistant","tool_calls":[{"id":"1","id":"2"}]}]}`, "twice")
	f(`{"mess\u0061ges":[]}`, "escapes")
	f(`{"messages":null}`, "not a list")
	f(`{"messages":[{"role":"user"},7]}`, "item 1: it is not a JSON object")
	f(`{"a":`+strings.Repeat("[", 1_000_000), "too deep")
	f(`{"messages":[{"a":`+strings.Repeat("[", 1_000_000), "too deep")
	f(`{"messages":[],"a":[`+strings.Repeat("0,", 700_000)+`0]}`, "more than 700000 values")
}

func TestHashIsOfWhatIsSaid(t *testing.T) {
	f := func(same bool, a, b string) {
		t.Helper()
		if (read(t, bodyOf(a)).Items[0].Hash == read(t, bodyOf(b)).Items[0].Hash) != same {
			t.Errorf("%s and %s have one hash: %v", a, b, !same)
		}
	}
	f(true, `{"role":"user","content":"a"}`, ` { "content" : "a", "role":"user"} `)
	f(true, `{"role":"user","content":"a"}`, `{"role":"user","content":[{"text":"a","type":"text","cache_control":{"type":"ephemeral"}}]}`)
	f(true, `{"role":"user","content":"a"}`, `{"role":"user","content":"a","cache_control":{}}`)
	f(true, `{"role":"assistant","content":"a"}`, `{"role":"assistant","content":"a","reasoning_content":"b","reasoning_details":[{}]}`)
	f(false, `{"role":"user","content":"a"}`, `{"role":"assistant","content":"a"}`)
	f(false, `{"role":"user","content":"a"}`, `{"role":"user","content":"b"}`)
	f(false, `{"role":"user","content":"a"}`, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"a"}]}`)
	f(false, `{"role":"tool","tool_call_id":"1","content":"a"}`, `{"role":"tool","tool_call_id":"2","content":"a"}`)
	f(false, `{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}}]}`,
		`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{ }"}}]}`)
}

func TestReadWithKnownIsReadWithout(t *testing.T) {
	messages := []string{`{"role":"system","content":"s"}`, task}
	var known *conversation.Request
	for n := range 20 {
		id := fmt.Sprint(n)
		messages = append(messages, strings.ReplaceAll(two, `"1"`, `"`+id+`"`), strings.ReplaceAll(one, `"1"`, `"`+id+`"`), other)
		if n%3 == 0 {
			messages = append(messages, done, task)
		}
		body := bodyOf(messages...)
		if n == 15 { // a fork
			body = strings.Replace(body, `"11"`, `"x"`, 1)
		}
		with, err := Dialect{}.Read([]byte(body), known)
		if err != nil {
			t.Fatal(err)
		}
		without := read(t, body)
		if !reflect.DeepEqual(with.Items, without.Items) || !reflect.DeepEqual(with.Chain(), without.Chain()) {
			t.Fatalf("turn %d: items differ", n)
		}
		known = with
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(bodyOf(task, two, one, other)))
	f.Add([]byte(bodyOf(`{"role":"user","content":[{"image_url":{"url":"x"}},{"text":"a"},"b"]}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Dialect{}.Read(body, nil)
		if err != nil {
			return
		}
		at := 0
		for i := range r.Items {
			it := &r.Items[i]
			if it.Start < at || it.End > len(body) || it.Start >= it.End {
				t.Fatalf("%q: item at %v behind %d", body, it.Span, at)
			}
			show(r, it)
			at = it.End
		}
		Dialect{}.Flaws(r)
		r.Chain()
		again, err := Dialect{}.Read(body, r)
		if err != nil || !reflect.DeepEqual(again.Items, r.Items) {
			t.Fatalf("%q is read otherwise once it is known: %v", body, err)
		}
	})
}
