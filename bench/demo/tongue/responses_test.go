package tongue

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestResponsesAreTurnedThereAndBack(t *testing.T) {
	f := func(messages ...string) {
		t.Helper()
		const tools = `[{"type":"function","function":{"name":"ls","description":"","parameters":{"type":"object"}}}]`
		out, err := inResponses{}.fromChat([]byte(`{"model":"m","stream":true,"tools":` + tools + `,"messages":[` +
			strings.Join(messages, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if streamed, refused := (inResponses{}).judge(http.Header{}, out); refused != nil || !streamed {
			t.Errorf("a strict server refuses %s: %s", out, refused.body)
		}
		back, err := inResponses{}.toChat(out)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Tools    json.RawMessage
			Messages []json.RawMessage
		}
		err = json.Unmarshal(back, &got)
		if err != nil || len(got.Messages) != len(messages) || string(got.Tools) != tools {
			t.Fatalf("%s, %v", back, err)
		}
		for i, want := range messages {
			if string(got.Messages[i]) != want {
				t.Errorf("%s came back as %s", want, got.Messages[i])
			}
		}
	}
	f(asks)
	f(`{"role":"system","content":"Be."}`, asks, calls, gives)
	f(asks, calls, gives, `{"role":"assistant","content":"So it is."}`, `{"role":"user","content":"And more."}`)
}

func TestTranscriptsOfResponsesAreTranslated(t *testing.T) {
	texts := map[string]string{
		"a": `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So."}]},` +
			`{"type":"function_call","call_id":"a","name":"ls","arguments":"{\"x\":\"\\u003c\"}"},` +
			`{"type":"function_call_output","call_id":"a","output":"one\ntwo"}`,
		"b": `{"package":"p"}`, "c": "plain",
	}
	Translate(inResponses{}, texts)
	if texts["a"] != calls+"\n"+gives || texts["b"] != `{"package":"p"}` || texts["c"] != "plain" {
		t.Errorf("%q", texts)
	}
}

func TestAnswersOfResponsesComeBack(t *testing.T) {
	f := func(status int, answer, want string) {
		t.Helper()
		server, url, err := Serve("", inResponses{}, func(w http.ResponseWriter, r *http.Request) {
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
		client := Client(inResponses{})
		defer client.CloseIdleConnections()
		asked := `{"model":"m","stream":true,"tools":[],"messages":[` + asks + `]}`
		resp, err := client.Post(url+chatPath, "application/json", strings.NewReader(asked))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status || !strings.Contains(string(text), want) {
			t.Errorf("%d %s (%v), want %d %s", resp.StatusCode, text, err, status, want)
		}
	}
	f(200, `{"choices":[{"message":`+calls+`}],"usage":{"prompt_tokens":9}}`, `{"delta":`+calls+`}`)
	f(400, `{"error":{"message":"This model's maximum context length is 5 tokens. However, your messages resulted in 9 tokens"}}`,
		`"code":"context_length_exceeded"`)
	f(400, `{"error":{"message":"No."}}`, `"message":"No."`)
}
