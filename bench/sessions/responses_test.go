package sessions

import (
	"net/http"
	"strings"
	"testing"

	"epitome/internal/fakeapi/responses/rules"
	"epitome/rewrite/responses"

	"github.com/tidwall/gjson"
)

func TestConversationsAreTurnedIntoResponses(t *testing.T) {
	f := func(c Conversation, want string, minutes ...int) {
		t.Helper()
		got, err := c.AsResponses()
		if err != nil {
			t.Fatal(err)
		}
		if list := gjson.GetBytes(got.Body, "input").Raw; list != want {
			t.Errorf("got\n%s\nwant\n%s", list, want)
		}
		var at []int
		for _, now := range got.Times {
			at = append(at, int(now.Unix()/60))
		}
		if string(mustJSON(t, at)) != string(mustJSON(t, minutes)) {
			t.Errorf("times %v, want %v", at, minutes)
		}
		q, refused := rules.Read(http.Header{}, got.Body, rules.Answer, rules.ModelOf)
		if refused == nil {
			refused = rules.CheckPairs(q.Items)
		}
		if refused != nil {
			t.Errorf("a strict server refuses %s: %v", got.Body, refused)
		}
		if r, err := (responses.Dialect{}).Read(got.Body, nil); err != nil || len(r.Items) != len(minutes) {
			t.Errorf("%d items (%v), %d times", len(r.Items), err, len(minutes))
		}
	}
	says := func(role, text string) string {
		return `{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":"` + text + `"}]}`
	}
	const (
		be     = `{"role":"system","content":"Be good."}`
		user   = `{"role":"user","content":"Go."}`
		custom = `{"role":"assistant","content":"So.","tool_calls":[{"id":"a","type":"custom","custom":{"name":"patch","input":"x"}}]}`
		calls  = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gAAAAA2"},` +
			`{"type":"function_call","id":"fc_1","call_id":"a","name":"ls","arguments":"{\"x\":1}"},` +
			`{"type":"function_call","id":"fc_2","call_id":"b c","name":"cat","arguments":"all"}`
		outputs = `{"type":"function_call_output","call_id":"a","output":"one"},{"type":"function_call_output","call_id":"b c","output":""}`
	)
	f(chatOf(be, user, lists, listed, listed2),
		`[`+says("developer", "Be good.")+`,`+says("user", "Go.")+`,`+calls+`,`+outputs+`]`, 0, 1, 2, 3, 4)
	f(chatOf(be, user, lists, listed, listed2).Asking("gpt-4o"), // which does not reason
		strings.Replace(`[`+says("developer", "Be good.")+`,`+says("user", "Go.")+`,`+calls+`,`+outputs+`]`,
			`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gAAAAA2"},`, "", 1), 0, 1, 2, 3, 4)
	// what the model says in several messages is one answer, and nothing is no message
	f(chatOf(be, user, `{"role":"assistant","content":""}`, lists, listed, listed2),
		`[`+says("developer", "Be good.")+`,`+says("user", "Go.")+`,`+calls+`,`+outputs+`]`, 0, 1, 3, 4, 5)
	f(chatOf(user, custom, strings.Replace(listed, "one", "done", 1), custom, listed),
		`[`+says("user", "Go.")+`,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAA1"},`+
			`{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"So.","annotations":[]}]},`+
			`{"type":"custom_tool_call","id":"ctc_1","call_id":"a","name":"patch","input":"x"},{"type":"custom_tool_call_output","call_id":"a","output":"done"},`+
			`{"type":"reasoning","id":"rs_5","summary":[],"encrypted_content":"gAAAAA5"},`+
			`{"type":"message","id":"msg_5","role":"assistant","status":"completed","content":[{"type":"output_text","text":"So.","annotations":[]}]},`+
			`{"type":"custom_tool_call","id":"ctc_2","call_id":"a_1","name":"patch","input":"x"},{"type":"custom_tool_call_output","call_id":"a_1","output":"one"}]`,
		0, 1, 2, 3, 4)
}

func TestWhatResponsesCannotSayIsToldSo(t *testing.T) {
	f := func(want string, messages ...string) {
		t.Helper()
		if _, err := chatOf(messages...).AsResponses(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", messages, err, want)
		}
	}
	f("no call waits", `{"role":"user","content":"Go."}`, listed)
	f("has no result", `{"role":"user","content":"Go."}`, lists, listed)
	f(`role "function"`, `{"role":"function","content":"Go."}`)
	f(`type "audio"`, `{"role":"user","content":[{"type":"audio"}]}`)
}
