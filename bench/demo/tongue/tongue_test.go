package tongue

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"epitome/scripted/messages/rules"
)

const (
	asks  = `{"role":"user","content":"Go <on>."}`
	calls = `{"role":"assistant","content":"So.","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"ls","arguments":"{\"x\":\"\\u003c\"}"}}]}`
	gives = `{"role":"tool","content":"one\ntwo","tool_call_id":"a"}`
)

func chatOf(messages ...string) []byte {
	return []byte(`{"model":"m","stream":true,"tools":[{"name":"ls","description":"","input_schema":{"type":"object"}}],"messages":[` +
		strings.Join(messages, ",") + `]}`)
}

func TestWhatIsTurnedThereAndBackIsWhatItWas(t *testing.T) {
	f := func(messages ...string) {
		t.Helper()
		out, err := inMessages{}.fromChat(chatOf(messages...))
		if err != nil {
			t.Fatal(err)
		}
		if _, refused := rules.Read(http.Header{"Anthropic-Version": {"1"}}, out, false, anyModel); refused != nil {
			t.Errorf("a strict server refuses %s: %v", out, refused)
		}
		back, err := inMessages{}.toChat(out)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(back, &got); err != nil || len(got.Messages) != len(messages) {
			t.Fatalf("%s, %v", back, err)
		}
		for i, want := range messages {
			if string(got.Messages[i]) != want {
				t.Errorf("%s came back as %s", want, got.Messages[i])
			}
		}
		var marked struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(out, &marked); err != nil {
			t.Fatal(err)
		}
		for i, m := range marked.Messages {
			if strings.Contains(string(m), `"cache_control"`) != (i == len(marked.Messages)-1) {
				t.Errorf("marks in message %d of %s", i, out)
			}
		}
	}
	f(asks)
	f(`{"role":"system","content":"Be."}`, asks, calls, gives)
	f(asks, calls, gives, `{"role":"user","content":"More."}`, `{"role":"user","content":"And more."}`)
}

func TestTranscriptsAreTranslated(t *testing.T) {
	texts := map[string]string{
		"a": `{"role":"assistant","content":[{"type":"text","text":"So."},{"type":"tool_use","id":"a","name":"ls","input":{"x":"\u003c"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one\ntwo"}]}`,
		"b": `{"package":"p"}`, "c": "plain",
	}
	Translate(inMessages{}, texts)
	if texts["a"] != calls+"\n"+gives || texts["b"] != `{"package":"p"}` || texts["c"] != "plain" {
		t.Errorf("%q", texts)
	}
}

// played asks a model that gives this answer, in Messages, and returns what the agent hears.
func played(t *testing.T, status int, answer string) (int, string) {
	t.Helper()
	server, url, err := Serve("", inMessages{}, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), `"role":"user"`) {
			t.Errorf("the model got %s, %v", body, err)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	client := Client(inMessages{})
	defer client.CloseIdleConnections()
	resp, err := client.Post(url+chatPath, "application/json", strings.NewReader(string(chatOf(asks))))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestAnswersComeBack(t *testing.T) {
	status, text := played(t, 200, `{"choices":[{"message":`+calls+`}],"usage":{"prompt_tokens":9}}`)
	if status != 200 || !strings.Contains(text, `{"delta":`+calls+`}`) || !strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Errorf("%d %s", status, text)
	}
	status, text = played(t, 400, `{"error":{"message":"This model's maximum context length is 5 tokens. However, your messages resulted in 9 tokens"}}`)
	if status != 400 || !strings.Contains(text, `prompt is too long: 9 tokens > 5 maximum`) {
		t.Errorf("%d %s", status, text)
	}
}
