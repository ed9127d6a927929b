package daemon

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/scripted/messages"
	"epitome/scripted/scriptedtest"
)

// TestOneDocumentIsOfOneRound: what the model says before it looks something up is no part of the JSON that it is asked
// for, and stands in the next request all the same.
func TestOneDocumentIsOfOneRound(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{false, true} {
		o := &oracle{t: t}
		up := httptest.NewServer(o)
		k := besides(t, t.TempDir(), up.URL, nil)
		name := k.shelved(t, "first\n4711\nthird\n")
		o.answer = func(messages []gjson.Result) utterance {
			if last := messages[len(messages)-1]; last.Get("role").Str != "user" {
				return utterance{text: `{"code": ` + strings.TrimSpace(last.Get("content").Str) + `}`}
			}
			return utterance{text: `{"code": "I do not know yet"}`, recall: []string{`{"artifact":"` + name + `","lines":"2"}`}}
		}
		l := &loop{t: t, stream: streamed, tools: `"response_format":{"type":"json_object"},`}
		for range 2 {
			l.said = append(l.said, `{"role":"user","content":"Which code, as JSON?"}`)
			a, err := l.asks(k.url())
			if err != nil || a.Get("choices.0.message.content").Str != `{"code": 4711}` || l.usage.Get("total_tokens").Int() != 220 ||
				a.Get("choices.0.finish_reason").Str != "stop" {
				t.Fatalf("streamed %v: %v, the client got %s", streamed, err, l.raw)
			}
		}
		o.extends(t)
		if sent := o.bodies[3].Get("messages").Raw; len(o.bodies) != 4 || strings.Count(sent, "I do not know yet") != 2 {
			t.Errorf("%d requests, the last is %s", len(o.bodies), sent)
		}
		k.end(t)
		up.Close()
	}
}

// TestOneDocumentThatIsCutIsNotRecorded: nothing of it was given, even if it was cut behind its last word.
func TestOneDocumentThatIsCutIsNotRecorded(t *testing.T) {
	piece := func(delta, why string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + why + "}]}\n\n"
	}
	rounds := []string{
		piece(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"epitome_recall","arguments":"{}"}}]}`, `"tool_calls"`),
		piece(`{"content":"{}"}`, `"stop"`), piece(`{"content":"{}"}`, `"stop"`),
	}
	var sent []string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, string(body))
		n := len(sent) // the next round may begin while this one ends
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, rounds[n-1])
		if _ = http.NewResponseController(w).Flush(); n == 2 {
			panic(http.ErrAbortHandler)
		}
	}))
	defer up.Close()
	k := besides(t, t.TempDir(), up.URL, nil)
	defer k.end(t)
	l := &loop{t: t, stream: true, tools: `"response_format":{"type":"json_object"},`,
		said: []string{`{"role":"user","content":"Which?"}`}}
	if _, err := l.asks(k.url()); err == nil || !strings.Contains(err.Error(), "502") {
		t.Fatalf("%v: %s", err, l.raw)
	}
	body := `{"model":"gpt-4o","messages":[{"role":"user","content":"Which?"},{"role":"assistant","content":"{}"},` +
		`{"role":"user","content":"And?"}]}`
	resp, err := http.Post(k.url()+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if len(sent) != 3 || len(gjson.Get(sent[2], "messages").Array()) != 3 {
		t.Errorf("%d requests, the last is %s", len(sent), sent[len(sent)-1])
	}
}

// TestOneDocumentFailsWhole: nothing of it was given, so the client is told what the provider says.
func TestOneDocumentFailsWhole(t *testing.T) {
	o := &oracle{t: t, breaks: 2, status: http.StatusTooManyRequests}
	up := httptest.NewServer(o)
	defer up.Close()
	k := besides(t, t.TempDir(), up.URL, nil)
	defer k.end(t)
	o.answer = looksUp(k.shelved(t, "a\nb\n"))
	l := &loop{t: t, stream: true, tools: `"response_format":{"type":"json_object"},`,
		said: []string{`{"role":"user","content":"Which?"}`}}
	if _, err := l.asks(k.url()); err == nil || !strings.Contains(err.Error(), "429") || !strings.Contains(l.raw, "busy") {
		t.Errorf("%v: %s", err, l.raw)
	}
}

// TestWhatTheClientBeganIsNotInterrupted: an answer that goes on from the client's own words has one round. The tool
// stays declared, as it stands before all that was said.
func TestWhatTheClientBeganIsNotInterrupted(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"false", "true"} {
		rounds := 0
		server := scriptedtest.StartMessages(t, messages.Options{Otherwise: func(messages.Received) messages.Turn {
			rounds++
			return messages.Turn{Blocks: []messages.Block{messages.Text("and so on."),
				messages.Call("", "epitome_recall", `{"artifact":"none"}`)}}
		}})
		k := besides(t, t.TempDir(), server.URL(), nil)
		said := `{"role":"user","content":"Tell me."}`
		asks := func() gjson.Result {
			t.Helper()
			req, _ := http.NewRequest(http.MethodPost, k.url()+"/v1/messages", strings.NewReader(
				`{"model":"claude-sonnet-4-5","max_tokens":100,"stream":`+stream+`,"messages":[`+said+`]}`))
			req.Header.Set("x-api-key", "k")
			req.Header.Set("anthropic-version", "2023-06-01")
			answer := answered200(t, req)
			if stream == "true" {
				return blocksOf(t, answer)
			}
			return gjson.Parse(answer)
		}
		if got := asks(); len(got.Get("content").Array()) != 9 || rounds != 9 {
			t.Errorf("%d rounds: %s", rounds, got.Raw)
		}
		said += `,{"role":"assistant","content":"Once"},{"role":"user","content":"Go on."},{"role":"assistant","content":"Twice"}`
		got, rounds0 := asks(), 9
		if rounds != rounds0+1 || len(got.Get("content").Array()) != 1 || got.Get("stop_reason").Str != "end_turn" {
			t.Errorf("%d rounds more: %s", rounds-rounds0, got.Raw)
		}
		sent := server.Received()
		if last := sent[len(sent)-1].Body; gjson.GetBytes(last, "tools.0.name").Str != "epitome_recall" {
			t.Errorf("sent was %s", last)
		}
		k.end(t)
	}
}

// TestWhatCannotBeHeardBreaksNothing: an answer that comes coded although that was not asked for passes as it is, with
// a call of a tool that the client does not have. However the client answers it, the conversation goes on.
func TestWhatCannotBeHeardBreaksNothing(t *testing.T) {
	t.Parallel()
	o := &oracle{t: t}
	codes := false
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !codes {
			o.ServeHTTP(w, r)
			return
		}
		plain := httptest.NewRecorder()
		o.ServeHTTP(plain, r)
		w.Header().Set("Content-Type", plain.Header().Get("Content-Type"))
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(plain.Body.Bytes())
		_ = z.Close()
	}))
	defer up.Close()
	for _, streamed := range []bool{false, true} {
		k := besides(t, t.TempDir(), up.URL, nil)
		o.answer, o.bodies = looksUp(k.shelved(t, "a\nb\n")), nil
		l := &loop{t: t, stream: streamed, said: []string{`{"role":"user","content":"Which?"}`}}
		codes = true
		a, err := l.asks(k.url()) // what is coded is decoded on the way
		call := a.Get("choices.0.message.tool_calls.0")
		if err != nil || call.Get("function.name").Str != "epitome_recall" || len(o.bodies) != 1 {
			t.Fatalf("streamed %v: %v, after %d requests the client got %s", streamed, err, len(o.bodies), l.raw)
		}
		codes = false
		l.said = append(l.said, `{"role":"tool","tool_call_id":"`+call.Get("id").Str+`","content":"there is no such tool"}`)
		if a, err = l.asks(k.url()); err != nil || a.Get("choices.0.message.content").Str != "It is there is no such tool." {
			t.Fatalf("streamed %v: %v %s", streamed, err, l.raw)
		}
		l.said = append(l.said, `{"role":"user","content":"Which?"}`)
		if a, err = l.asks(k.url()); err != nil || a.Get("choices.0.message.content").Str != "Let me look.\n\nIt is b." {
			t.Fatalf("streamed %v: %v %s", streamed, err, l.raw)
		}
		o.extends(t)
		k.end(t)
	}
}

// TestAClientMayDeclineTheTool: with a conversation's first request, and then for as long as it lasts.
func TestAClientMayDeclineTheTool(t *testing.T) {
	o := &oracle{t: t, answer: func([]gjson.Result) utterance { return utterance{text: "ok"} }}
	up := httptest.NewServer(o)
	defer up.Close()
	k := besides(t, t.TempDir(), up.URL, nil)
	defer k.end(t)
	f := func(want string, headers ...string) {
		t.Helper()
		said, got := fmt.Sprintf(`{"role":"user","content":"%d"}`, len(o.bodies)), ""
		for _, value := range headers {
			req, _ := http.NewRequest(http.MethodPost, k.url()+"/v1/chat/completions",
				strings.NewReader(`{"model":"gpt-4o","messages":[`+said+`]}`))
			if value != "" {
				req.Header.Set("x-epitome-recall", value)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			got += fmt.Sprint(resp.StatusCode)
			if n := len(o.bodies); resp.StatusCode == http.StatusOK && o.bodies[n-1].Get("tools").Exists() {
				got += " with"
			}
			got += "; "
			said += `,{"role":"assistant","content":"ok"},{"role":"user","content":"Go on."}`
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", headers, got, want)
		}
	}
	f("200; 200; ", "off", "")
	f("200; 200; ", "OFF", "off")
	f("200 with; 200 with; ", "", "off")
	f("400; ", "on")
}
