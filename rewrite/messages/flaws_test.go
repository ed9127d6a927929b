package messages

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/conversation"
)

const (
	task  = `{"role":"user","content":"do"}`
	two   = `{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"1","name":"a","input":{}},{"type":"tool_use","id":"2","name":"b","input":{}}]}`
	both  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r"},{"type":"tool_result","tool_use_id":"2"}]}`
	one   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r"}]}`
	other = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":[{"type":"text","text":"r"}]}]}`
	done  = `{"role":"assistant","content":"done"}`
	aside = `{"role":"system","content":"by the way"}`
)

func TestFlawsAreFound(t *testing.T) {
	f := func(want string, messages ...string) {
		t.Helper()
		if got := fmt.Sprint(mustRead(t, messages...).Flaws()); got != "["+want+"]" {
			t.Errorf("%s\nhas %s, want [%s]", strings.Join(messages, "\n"), got, want)
		}
	}
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	said := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	const call, answer = `{"type":"tool_use","id":"1","name":"a","input":{}}`, `{"type":"tool_result","tool_use_id":"1","content":"r"}`
	const text, thought = `{"type":"text","text":"x"}`, `{"type":"thinking","thinking":"","signature":"s"}`

	f("", task, two, both, done)
	f("", task, two, one, other, done) // the server makes one message of two
	f("a call is not answered (1) a call is not answered (2)", task, two)
	f("", task, done, `{"role":"assistant","content":"more"}`)
	f("a call is not answered (2)", task, two, one, done)
	f("a call is not answered (2)", task, two, one)
	f("a call is not answered (1) a call is not answered (2)", task, two, task)
	f("a tool's result answers no call before it (1)", task, one)
	f("a call is answered twice (1)", task, two, one, both)
	f("a result is apart from the message that called (1)", task, said(call), user(answer), done, user(answer))
	f("a result stands behind other content of its message (1)", task, said(call), user(text+","+answer))
	f("a result stands behind other content of its message (1)", task, said(call), task, user(answer))
	f("several calls have one id (1)", task, said(call), user(answer), said(call), user(answer))
	f("a call's arguments are not JSON (1)", task, said(`{"type":"tool_use","id":"1","name":"a","input":"{}"}`), user(answer))
	f("a role is unknown (1)", task, `{"role":"moderator","content":"x"}`)
	answered := `{"role":"moderator","content":[` + answer + `]}` // whatever the user's last message was
	f("a role is unknown (2)", task, said(call), answered)
	f("a role is unknown (2)", user(text+","+text), said(call), answered)
	misplaced := said(strings.ReplaceAll(answer, `"1"`, `"3"`)) // whatever the user's last message was
	third := said(strings.ReplaceAll(call, `"1"`, `"3"`))
	f("a result is apart from the message that called (3)", task, third, misplaced)
	f("a result is apart from the message that called (3)", task, said(call), user(answer), user(text), third, misplaced)
	f("a result is apart from the message that called (3)", task, said(call), user(answer), third, misplaced)
	f("the first message is not the user's (0)", done, task)
	f("", said(`{"type":"compaction","content":"x"}`), task, done)

	f("a message says nothing (0)", `{"role":"user","content":""}`, done)
	f("a message says nothing (0)", user(""))
	f("a message says nothing (2)", task, said(""), task)
	f("", task, said("")) // the last one may be empty
	f("a text is blank (0)", user(`{"type":"text","text":" \n"}`))
	f("a text is blank (0)", `{"role":"user","content":"\n"}`)
	f("a text is blank (2)", task, said(call), user(`{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":""}]}`))
	f("a text is blank (2)", task, said(call), user(`{"type":"tool_result","tool_use_id":"1","content":""}`))

	f("", task, aside, done)
	f("", task, aside, aside, done)
	f("", task, aside)
	f("a message of the system stands where none may (2)", task, done, aside)
	f("a message of the system stands where none may (2)", task, aside, task)
	f("a message of the system stands where none may (0) the first message is not the user's (1)", aside, done)

	f("", task, said(thought+","+text+","+thought))
	f("an answer with thoughts does not begin with one (1)", task, said(text+","+thought))

	search, found := `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`, `{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`
	f("", task, said(search+","+found+","+text), task)
	f("", task, said(search)) // a pause
	f("", task, said(search), said(found+","+text), task)
	f("a call is not answered (s)", task, said(search), task)
	f("a tool's result answers no call before it (s)", task, said(found))
}

func TestMarksAreCountedWherever(t *testing.T) {
	f := func(want, body string) {
		t.Helper()
		r, err := read(body)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Flaws()); got != "["+want+"]" {
			t.Errorf("%s\nhas %s, want [%s]", body, got, want)
		}
	}
	const mark = `"cache_control":{"type":"ephemeral"}`
	const tools, system = `"tools":[{"name":"a",` + mark + `}]`, `"system":[{"type":"text","text":"x",` + mark + `}]`
	user := func(n int) string {
		block := `{"type":"text","text":"x",` + mark + `}`
		return `"messages":[{"role":"user","content":[` + strings.Repeat(block+",", n-1) + block + `]}]`
	}
	f("", `{`+user(4)+`}`)
	f("", `{`+tools+`,`+system+`,`+user(2)+`}`)
	f("there are too many marks for a cache (1)", `{`+user(4)+`,`+mark+`}`)
	f("there are too many marks for a cache (0)", `{`+tools+`,`+system+`,`+user(3)+`}`)
	f("there are too many marks for a cache (1)", `{`+user(3)+`,`+system+`,`+tools+`}`)
	f("a mark for a cache stands where none may (1)", `{"messages":[`+task+`,{"role":"assistant","content":[{"type":"thinking","thinking":"x",`+mark+`}]}]}`)
	f("", `{`+user(4)+`,"cache_control":null}`)
	manual := `"thinking":{"type":"enabled","budget_tokens":1024}`
	f("an answer with thoughts does not begin with one (3)", `{"messages":[`+task+`,`+two+`,`+both+`],`+manual+`}`)
	f("", `{"messages":[`+task+`,`+two+`,`+both+`,`+done+`,`+task+`],`+manual+`}`)
	mused := strings.Replace(two, `[`, `[{"type":"thinking","thinking":"x","signature":"s"},`, 1)
	again := func(m string) string {
		return strings.NewReplacer(`"id":"`, `"id":"n`, `use_id":"`, `use_id":"n`).Replace(m)
	}
	rounds := func(m ...string) string { return `{"messages":[` + strings.Join(m, ",") + `],` + manual + `}` }
	f("", rounds(task, mused, both, again(mused), again(both)))
	f("an answer with thoughts does not begin with one (5)", rounds(task, two, both, again(mused), again(both)))
	f("an answer with thoughts does not begin with one (5)", rounds(task, mused, both, again(two), again(both)))
	f("an answer with thoughts does not begin with one (5) an answer with thoughts does not begin with one (5)",
		rounds(task, two, both, again(two), again(both)))
	f("", rounds(task, two, both, done, task, again(mused), again(both)))
}

// What a wrong edit of ours would make of a sound conversation, or of a broken one.
func TestWrongEditsMakeARequestWorse(t *testing.T) {
	f := func(worse bool, original, rewritten []string) {
		t.Helper()
		if err := conversation.Worse(mustRead(t, original...), mustRead(t, rewritten...)); (err != nil) != worse {
			t.Errorf("%v\nto %v: %v", original, rewritten, err)
		}
	}
	l := func(m ...string) []string { return m }
	whole := l(task, two, both, done)
	f(false, whole, whole)
	f(false, whole, l(task, done))
	f(true, whole, l(task, both, done))
	f(true, whole, l(task, two, done))
	f(true, whole, l(task, two, one, done))
	f(true, whole, l(task, two, strings.Replace(both, `"r"`, `""`, 1), done))
	f(true, whole, l(task, two, strings.Replace(both, `"r"`, `[{"type":"text","text":" "}]`, 1), done))
	f(true, whole, l(task, strings.Replace(two, `{}`, `"{}"`, 1), both, done))
	f(true, whole, l(task, two, `{"role":"user","content":"a summary"}`, both, done))
	f(true, whole, l(done))
	f(true, l(task, aside, done), l(task, aside, task))
	broken := l(task, one, two, both, one, `{"role":"user","content":""}`, done)
	f(false, broken, broken)
	f(false, broken, l(task, one, done))
	f(true, broken, l(task, one, one, one, done))
	f(true, broken, l(task, `{"role":"user","content":""}`, `{"role":"user","content":""}`, done))
}
