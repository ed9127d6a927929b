package conversation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/rewritetest"
)

const (
	task  = `{"role":"user","content":"do"}`
	two   = `{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":"2","function":{"name":"b","arguments":""}}]}`
	one   = `{"role":"tool","tool_call_id":"1","content":"r"}`
	other = `{"role":"tool","tool_call_id":"2","content":"r"}`
	done  = `{"role":"assistant","content":"done"}`
)

func mustRead(tb testing.TB, messages ...string) *conversation.Request {
	tb.Helper()
	r, err := chat.Read([]byte(rewritetest.ChatBody(messages...)))
	if err != nil {
		tb.Fatalf("%.200q: %v", messages, err)
	}
	return r
}

// Promise 7: a link names exactly the items of its prefix.
func TestChainNamesThePrefixAndNothingElse(t *testing.T) {
	link := func(messages ...string) conversation.Link {
		t.Helper()
		chain := mustRead(t, messages...).ChainFrom(nil)
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
	long := mustRead(t, task, two, one, other, done).ChainFrom(nil)
	for i, short := range mustRead(t, task, two, one).ChainFrom(nil) {
		if long[i] != short {
			t.Errorf("link %d changes with what comes behind it", i)
		}
	}
}

func BenchmarkChain(b *testing.B) {
	result, _ := json.Marshal(strings.Repeat("some line of a tool's output\n", 130))
	var messages []string
	for i := range 200 {
		messages = append(messages, fmt.Sprintf(`{"role":"tool","tool_call_id":"%d","content":%s}`, i, result))
	}
	r := mustRead(b, messages...)
	b.SetBytes(int64(len(r.Body)))
	for b.Loop() {
		r.ChainFrom(nil)
	}
}

// Time grows with the body: what is nested deeply is not read again at each level.
func TestDeepNestingIsReadOnce(t *testing.T) {
	deep := strings.Repeat("[", 9_990) + strings.Repeat("]", 9_990)
	r := mustRead(t, `{"role":"user","content":`+deep+`,"more":[`+strings.Repeat(deep+",", 40)+`1]}`)
	if len(r.ChainFrom(nil)) != 2 || len(r.Flaws()) != 0 {
		t.Errorf("got %d links and flaws %v", len(r.ChainFrom(nil)), r.Flaws())
	}
}
