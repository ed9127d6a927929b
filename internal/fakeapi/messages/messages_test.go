package messages_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"epitome/internal/fakeapi/messages"
	"epitome/internal/fakeapi/messages/rules"
	"epitome/internal/fakeapi/scriptedtest"
)

// sound is a request that is taken once it is signed.
const sound = `{"model":"claude-opus-5-5","max_tokens":4096,"stream":false,
"system":[{"type":"text","text":"You help.","cache_control":{"type":"ephemeral"}}],
"tools":[{"name":"Bash","input_schema":{}}],
"messages":[{"role":"user","content":"Look."},
{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"?"},
{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a b"}]},
{"role":"assistant","content":"Found."},{"role":"user","content":"Go on."}]}`

func TestFlawsAreRefused(t *testing.T) {
	s := messages.New(messages.Options{})
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	signed, err := s.Sign([]byte(sound))
	if err != nil {
		t.Fatal(err)
	}
	base := string(signed)
	if refused := s.Judge(header, signed); refused != nil {
		t.Fatalf("the sound request is refused: %v", refused)
	}
	const binding = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
	for _, tt := range []struct{ old, now, want string }{
		{`"max_tokens":4096,`, ``, "max_tokens: Field required"},
		{`"max_tokens":4096`, `"max_tokens":4096,"max":1`, "max: Extra inputs are not permitted"},
		{`"Go on."`, `""`, "messages.4: "},
		{`"tool_use_id":"toolu_1"`, `"tool_use_id":"toolu_2"`, "messages.1: `tool_use` ids were found without"},
		{`{"role":"user","content":"Go on."}`, `{"role":"assistant","content":"Go on."}`, "This model does not support assistant message prefill."},
		{`"ephemeral"`, `"for ever"`, "system.0.cache_control.type: Input should be 'ephemeral'"},
		{`"You help."`, `"You help!"`, binding},
		{`"Look."`, `"Look!"`, binding},
		{`"thinking":"a"`, `"thinking":"b"`, "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{`"a b"`, `"a"`, ""},
		{`"Found."`, `"Lost."`, ""},
	} {
		if strings.Count(base, tt.old) != 1 {
			t.Fatalf("%s stands in the request %d times: %s", tt.old, strings.Count(base, tt.old), base)
		}
		got := ""
		if refused := s.Judge(header, []byte(strings.Replace(base, tt.old, tt.now, 1))); refused != nil {
			got = refused.Message
		}
		if !strings.HasPrefix(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("%s instead of %s: got %q, want %q", tt.now, tt.old, got, tt.want)
		}
	}
}

func TestTurnsAreAnsweredInOrder(t *testing.T) {
	m := rules.ModelOf("claude-sonnet-4-5")
	m.Window = 100
	s := scriptedtest.StartMessages(t, messages.Options{Models: map[string]rules.Model{"claude-sonnet-4-5": m}})
	s.Next(messages.Turn{Refuse: rules.Overloaded()},
		messages.Turn{Blocks: []messages.Block{messages.Text("two"), messages.Call("", "Bash", `{"a":1}`)}},
		messages.Turn{Blocks: []messages.Block{messages.Text("three")}, Cut: true, After: 2})
	f := func(content, stream, want string) {
		t.Helper()
		body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":50%s,"messages":[{"role":"user","content":%q}]}`, stream, content)
		r, err := http.NewRequest(http.MethodPost, s.URL()+"/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("anthropic-version", "2023-06-01")
		resp, err := scriptedtest.Direct().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if got := fmt.Sprint(resp.StatusCode, " ", string(text), " ", err); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f("x", "", "529 ")
	f(strings.Repeat("long ", 100), "", "prompt is too long: 129 tokens > 100 maximum") // uses up no turn
	f("x", "", `"content":[{"type":"text","text":"two"},{"type":"tool_use","id":"toolu_0000000000000000000001","name":"Bash","input":{"a":1}}]`)
	f("x", `,"stream":true`, "unexpected EOF")
	f("x", `,"stream":true`, "event: message_stop")
	if n := len(s.Refusals()); n != 1 {
		t.Errorf("%d refusals by a rule, want 1", n)
	}
}
