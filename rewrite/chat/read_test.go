package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/rewrite/conversation"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/span"
)

func mustRead(tb testing.TB, body string) *conversation.Request {
	tb.Helper()
	r, err := Read([]byte(body))
	if err != nil {
		tb.Fatalf("%.200s: %v", body, err)
	}
	return r
}

func TestRequestIsReadAsSpans(t *testing.T) {
	body := ` { "model" : "gpt-\u0035" , "stream":true,"max_tokens":100,"max_completion_tokens":200, "tools":[{"x":1}], "x":{"messages":[]},
		"messages" : [ {"role":"system","content":"s"}, {"content":"d","role":"developer"},
		{"role":"user","content":[{"type":"text","text":"a \"quoted\" \\"}],"name":"ann"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},
			{"id":"2","type":"custom","custom":{"name":"patch","input":"*** free"}}]},
		{"role":"tool","tool_call_id":"1","content":"r1"}, {"role":"tool","tool_call_id":"2","content":"r2"},
		{"role":"assistant","function_call":{"name":"old","arguments":"{}"}}, {"role":"function","name":"old","content":"r3"},
		{"role":"odd","content":""} ] } `
	r := mustRead(t, body)
	var got []string
	for _, it := range r.Items {
		line := fmt.Sprintf("%s %s name=%s answers=%s", it.Role, it.Content.Of(r.Body), it.Name, it.Answers)
		for _, c := range it.Calls {
			line += fmt.Sprintf(" call %s %s %s", c.ID, c.Name, c.Arguments.Of(r.Body))
		}
		got = append(got, line)
	}
	want := []string{
		`system "s" name= answers=`, `system "d" name= answers=`,
		`user [{"type":"text","text":"a \"quoted\" \\"}] name=ann answers=`,
		`assistant  name= answers= call 1 read "{\"path\":\"a\"}" call 2 patch "*** free"`,
		`tool "r1" name= answers=1`, `tool "r2" name= answers=2`,
		`assistant  name= answers= call function old old "{}"`, `tool "r3" name=old answers=function old`, `unknown "" name= answers=`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Model != "gpt-5" || !r.Stream || r.MaxOutput != 200 || r.Head != 2 || string(r.Tools.Of(r.Body)) != `[{"x":1}]` {
		t.Errorf("got %q %v %d %d %q", r.Model, r.Stream, r.MaxOutput, r.Head, r.Tools.Of(r.Body))
	}
	if got, want := fmt.Sprint(r.Groups(), r.Turns()), "[{2 3} {3 6} {6 8} {8 9}] [2]"; got != want {
		t.Errorf("groups and turns are %s, want %s", got, want)
	}
	if f := r.Flaws(); len(f) != 1 || f[0].Rule != conversation.RuleRole {
		t.Errorf("flaws %v", f)
	}
}

func TestWhatIsBetterLeftAloneIsRefused(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if _, err := Read([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: error %v, want one that says %q", body, err, want)
		}
	}
	f(``, "not JSON")
	f(`x`, "no JSON object")
	f(`[]`, "the body is no JSON object")
	f(`"text"`, "the body is no JSON object")
	f(`{"messages":[]} x`, "not JSON")
	f(`{"messages":[`, "not JSON")
	f(`{"messages":[{"role":"user"`, "not JSON")
	f(`{"messages" []}`, "not JSON")
	f(`{"messages":[{} {}]}`, "not JSON")
	f(`{"model":"m"}`, "no messages")
	f(`{"messages":[],"messages":[]}`, "twice")
	f(`{"messages":[{"role":"user","role":"system"}]}`, "message 0: a key stands twice")
	f(`{"mess\u0061ges":[]}`, "escapes")
	f(`{"messages":{}}`, "messages is not a list")
	f(`{"model":"gpt-4o","messages":"x"}`, "messages is not a list")
	f(`{"messages":null}`, "messages is not a list")
	f(`{"messages":"x`, "not JSON")
	f(`{"messages":["text"]}`, "message 0: it is not an object")
	f(`{"messages":[{"role":"user"},7]}`, "message 1: it is not an object")
	f(`{"a":`+strings.Repeat("[", 1_000_000), "too deep")
	f(`{"messages":[{"role":"assistant","tool_calls":[{"id":"1","id":"2"}]}]}`, "twice")
}

// Whatever JSON stands between the messages, the spans are those of the standard decoder.
func TestSpansAreWhatTheStandardDecoderFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var values []json.RawMessage
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			v := rewritetest.RandomValue(t, 3)
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "spread") {
				var out bytes.Buffer
				if err := json.Indent(&out, raw, " ", "\t"); err != nil {
					t.Fatal(err)
				}
				raw = out.Bytes()
			}
			values = append(values, raw)
		}
		body := append([]byte("[ "), bytes.Join(rawBytes(values), []byte(" ,\n"))...)
		body = append(body, " ]"...)
		var got []string
		end, err := span.Elements(body, 0, func(i int) (int, error) {
			end, err := span.EndOfValue(body, i)
			got = append(got, string(body[i:end]))
			return end, err
		})
		if err != nil || end != len(body) || len(got) != len(values) {
			t.Fatalf("%s: %d values (%v), want %d", body, len(got), err, len(values))
		}
		for i := range got {
			if got[i] != string(values[i]) {
				t.Fatalf("value %d is %q, want %q", i, got[i], values[i])
			}
		}
	})
}

func rawBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}

func FuzzReadNeverBreaks(f *testing.F) {
	f.Add([]byte(rewritetest.ChatBody(`{"role":"user","content":"x"}`)))
	f.Add([]byte(`{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Read(body)
		if err != nil {
			return
		}
		at := 0
		for _, it := range r.Items {
			if it.Start < at || it.End > len(body) || it.Start >= it.End {
				t.Fatalf("%q: item at %v behind %d", body, it.Span, at)
			}
			at = it.End
		}
		r.Flaws()
		if len(r.ChainFrom(nil)) != len(r.Items)-r.Head+1 {
			t.Fatalf("%q: a chain of %d links for %d items", body, len(r.ChainFrom(nil)), len(r.Items)-r.Head)
		}
		if span.Valid(body) {
			var std struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(body, &std); err == nil && len(std.Messages) != len(r.Items) &&
				!bytes.Contains(bytes.ToLower(body), []byte("messages\"")) {
				t.Fatalf("%q: %d items, the standard decoder has %d", body, len(r.Items), len(std.Messages))
			}
		}
	})
}

func TestRealConversationsAreReadWithoutAFlaw(t *testing.T) {
	rewritetest.Corpus(t, func(name string, body []byte) {
		r, err := Read(body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var std struct{ Messages []map[string]any }
		if err := json.Unmarshal(body, &std); err != nil {
			t.Fatal(err)
		}
		if len(std.Messages) != len(r.Items) || len(r.Flaws()) > 0 {
			t.Errorf("%s: %d items, the standard decoder has %d; flaws %v", name, len(r.Items), len(std.Messages), r.Flaws())
		}
	})
}

func BenchmarkReadChat(b *testing.B) {
	result, _ := json.Marshal(strings.Repeat("some \"quoted\" line of a tool's output\n", 100))
	var messages []string
	for i := range 200 {
		messages = append(messages, fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"%d","content":%s}`, i, result))
	}
	body := []byte(rewritetest.ChatBody(messages...))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(body); err != nil {
			b.Fatal(err)
		}
	}
}
