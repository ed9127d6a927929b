package chat

import (
	"strings"
	"testing"

	"epitome/dialect/conversation"
)

func read(tb testing.TB, body string) *conversation.Request {
	tb.Helper()
	r, err := conversation.Read(Dialect{}, []byte(body), nil)
	if err != nil {
		tb.Fatalf("%.200s: %v", body, err)
	}
	return r
}

func bodyOf(messages ...string) string { return `{"messages":[` + strings.Join(messages, ",") + `]}` }

func TestHashIsOfWhatIsSaid(t *testing.T) {
	f := func(same bool, a, b string) {
		t.Helper()
		if (read(t, bodyOf(a)).Chain()[1] == read(t, bodyOf(b)).Chain()[1]) != same {
			t.Errorf("%s and %s have one hash: %v", a, b, !same)
		}
	}
	f(true, `{"role":"user","content":"a"}`, ` { "content" : "a", "role":"user"} `)
	f(true, `{"role":"user","content":"a"}`, `{"role":"user","content":[{"text":"a","type":"text",`+
		`"cache_control":{"type":"ephemeral"}}]}`)
	f(true, `{"role":"user","content":"a"}`, `{"role":"user","content":"a","cache_control":{}}`)
	f(true, `{"role":"assistant","content":"a"}`, `{"role":"assistant","content":"a","reasoning_content":"b",`+
		`"reasoning_details":[{}]}`)
	f(false, `{"role":"user","content":"a"}`, `{"role":"assistant","content":"a"}`)
	f(false, `{"role":"user","content":"a"}`, `{"role":"user","content":"b"}`)
	f(false, `{"role":"user","content":"a"}`, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text",`+
		`"text":"a"}]}`)
	f(false, `{"role":"tool","tool_call_id":"1","content":"a"}`, `{"role":"tool","tool_call_id":"2","content":"a"}`)
	f(false, `{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}}]}`,
		`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{ }"}}]}`)
}
