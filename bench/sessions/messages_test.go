package sessions

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/internal/fakeapi/messages/rules"
	"epitome/rewrite/messages"

	"github.com/tidwall/gjson"
)

// chatOf is a request of chat completions with these messages, a time for each, a minute apart.
func chatOf(messages ...string) Conversation {
	c := Conversation{Body: []byte(`{"messages":[` + strings.Join(messages, ",") + `],"model":"m","tools":[` +
		`{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}},{"type":"function","function":{"name":"cat"}}]}`)}
	for i := range messages {
		c.Times = append(c.Times, time.Unix(int64(60*i), 0).UTC())
	}
	return c
}

const (
	lists   = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{\"x\":1}"}},{"id":"b c","type":"function","function":{"name":"cat","arguments":"all"}}]}`
	listed  = `{"role":"tool","tool_call_id":"a","content":"one"}`
	listed2 = `{"role":"tool","tool_call_id":"b c","content":[{"type":"text","text":""}]}`
)

func TestConversationsAreTurnedIntoMessages(t *testing.T) {
	f := func(c Conversation, want, system string, minutes ...int) {
		t.Helper()
		got, err := c.AsMessages()
		if err != nil {
			t.Fatal(err)
		}
		list := gjson.GetBytes(got.Body, "messages").Raw
		if list != want || gjson.GetBytes(got.Body, "system").Raw != system {
			t.Errorf("got\n%s\nwith %s, want\n%s", list, gjson.GetBytes(got.Body, "system").Raw, want)
		}
		var at []int
		for _, now := range got.Times {
			at = append(at, int(now.Unix()/60))
		}
		if string(mustJSON(t, at)) != string(mustJSON(t, minutes)) {
			t.Errorf("times %v, want %v", at, minutes)
		}
		if _, refused := rules.Read(http.Header{"Anthropic-Version": {"1"}}, got.Body, false, rules.ModelOf); refused != nil {
			t.Errorf("a strict server refuses %s: %v", got.Body, refused)
		}
		r, err := messages.Dialect{}.Read(got.Body, nil)
		items := len(minutes)
		if system != "" {
			items--
		}
		if err != nil || len(r.Items) != items {
			t.Errorf("%d items (%v), %d times", len(r.Items), err, len(minutes))
		}
	}
	be := `{"role":"system","content":"Be good."}`
	good := `[{"type":"text","text":"Be good.","cache_control":{"type":"ephemeral"}}]`
	called := `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{"x":1}},{"type":"tool_use","id":"b_c","name":"cat","input":{"input":"all"}}]}`
	results := `{"type":"tool_result","tool_use_id":"a","content":"one"},{"type":"tool_result","tool_use_id":"b_c","content":""}`
	f(chatOf(be, `{"role":"user","content":"Go."}`, lists, listed, listed2),
		`[{"role":"user","content":[{"type":"text","text":"Go."}]},`+called+`,{"role":"user","content":[`+results+`]}]`,
		good, 0, 1, 2, 3, 4)
	f(chatOf(be, `{"role":"user","content":"Go."}`, lists, listed, listed2, `{"role":"developer","content":"Mind."}`,
		`{"role":"user","content":" "}`),
		`[{"role":"user","content":[{"type":"text","text":"Go."}]},`+called+`,{"role":"user","content":[`+results+
			`,{"type":"text","text":"Mind."}]},{"role":"user","content":[{"type":"text","text":"(no content)"}]}]`,
		good, 0, 1, 2, 3, 4, 5, 6)
	// No conversation begins with an answer, and nobody says nothing.
	f(chatOf(be, `{"role":"assistant","content":"Yes?"}`, `{"role":"assistant","content":""}`, `{"role":"user","content":"Go."}`),
		`[{"role":"user","content":[{"type":"text","text":"Be good."}]},{"role":"assistant","content":[{"type":"text","text":"Yes?"}]},`+
			`{"role":"user","content":[{"type":"text","text":"Go."}]}]`, "", 1, 1, 3)
	// An id that comes again is another call.
	again := strings.Replace(called, `"b_c"`, `"b_c_3"`, 1)
	f(chatOf(`{"role":"user","content":"Go."}`, lists, listed, listed2, lists, listed, listed2),
		`[{"role":"user","content":[{"type":"text","text":"Go."}]},`+called+`,{"role":"user","content":[`+results+`]},`+
			strings.Replace(again, `"a"`, `"a_2"`, 1)+`,{"role":"user","content":[`+
			strings.Replace(strings.Replace(results, `"a"`, `"a_2"`, 1), `"b_c"`, `"b_c_3"`, 1)+`]}]`, "", 0, 1, 2, 3, 4, 5, 6)
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhatMessagesCannotSayIsToldSo(t *testing.T) {
	f := func(want string, messages ...string) {
		t.Helper()
		if _, err := chatOf(messages...).AsMessages(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", messages, err, want)
		}
	}
	f("no call waits", `{"role":"user","content":"Go."}`, listed)
	f("has no result", `{"role":"user","content":"Go."}`, lists, listed)
	f("has no result", `{"role":"user","content":"Go."}`, lists, listed, `{"role":"user","content":"Go."}`)
	f(`role "function"`, `{"role":"function","content":"Go."}`)
	f(`type "audio"`, `{"role":"user","content":[{"type":"audio"}]}`)
}

func TestThoughtStandsBeforeWhatIsSaid(t *testing.T) {
	c := chatOf(`{"role":"user","content":"Go."}`, lists, listed, listed2)
	c.Thoughts = [][]Thought{nil, {{Text: "hm"}, {Redacted: true}}, nil, nil}
	f := func(c Conversation, want string) {
		t.Helper()
		got, err := c.AsMessages()
		if err != nil || !strings.HasPrefix(gjson.GetBytes(got.Body, "messages.1.content").Raw, want) {
			t.Errorf("%s (%v), want %s", got.Body, err, want)
		}
	}
	f(c, `[{"type":"thinking","thinking":"hm","signature":"unsigned"},{"type":"redacted_thinking","data":"unsigned"},{"type":"tool_use"`)
	f(c.Thinking(8), `[{"type":"thinking","thinking":"hm"`)
	c.Thoughts = nil
	f(c.Thinking(8), `[{"type":"thinking","thinking":"Thought 1. And so on. And so on. ","signature":"unsigned"},{"type":"tool_use"`)
	f(c.Thinking(0), `[{"type":"tool_use"`)
}

func TestAnotherModelMayBeAsked(t *testing.T) {
	c := chatOf(`{"role":"user","content":"Go."}`)
	f := func(c Conversation, want string) {
		t.Helper()
		if !json.Valid(c.Body) || c.Model() != want || gjson.GetBytes(c.Body, "messages.0.content").Str != "Go." {
			t.Errorf("%s names %q, want %q", c.Body, c.Model(), want)
		}
	}
	f(c.Asking(""), "m")
	f(c.Asking(`"n`), `"n`)
	c.Body = []byte(strings.Replace(string(c.Body), `"model":"m",`, "", 1))
	f(c.Asking("n"), "n")
}
