package daemon

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/rewrite/aside"
	"epitome/scripted/scriptedtest"
)

// looksUp is a model that reads line 2 of an artifact when it is asked for the code, and then tells it.
func looksUp(name string, calls ...string) func([]gjson.Result) utterance {
	return func(messages []gjson.Result) utterance {
		last := messages[len(messages)-1]
		switch {
		case last.Get("role").Str == "user":
			return utterance{text: "Let me look.", recall: []string{`{"artifact":"` + name + `","lines":"2"}`}, calls: calls}
		case strings.HasPrefix(last.Get("tool_call_id").Str, "c"):
			return utterance{text: "It is " + strings.TrimSpace(last.Get("content").Str) + "."}
		}
		return utterance{text: "done"}
	}
}

func TestAnAgentWithoutToolsReadsWhatWasTakenOut(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{false, true} {
		o := &oracle{t: t}
		up := httptest.NewServer(o)
		folder := t.TempDir()
		k := besides(t, folder, up.URL, nil)
		name := k.shelved(t, "first\nthe code 4711\nthird\n")
		o.answer = looksUp(name)
		l := &loop{t: t, stream: streamed}
		for turn := range 3 {
			l.said = append(l.said, fmt.Sprintf(`{"role":"user","content":"Which code, %d? <artifact %s>"}`, turn, name))
			a, err := l.asks(k.url())
			if err != nil {
				t.Fatal(err)
			}
			m := a.Get("choices.0.message")
			if m.Get("content").Str != "Let me look.\n\nIt is the code 4711." || m.Get("tool_calls").IsArray() ||
				a.Get("choices.0.finish_reason").Str != "stop" || l.usage.Get("total_tokens").Int() != 220 {
				t.Fatalf("streamed %v: the client got %s", streamed, l.raw)
			}
			if turn == 1 { // and a restart changes nothing
				k.end(t)
				k = besides(t, folder, up.URL, nil)
			}
		}
		o.extends(t)
		if len(o.bodies) != 6 || o.bodies[0].Get("tools.0.function.name").Str != aside.Tool {
			t.Errorf("%d requests, the first is %s", len(o.bodies), o.bodies[0].Raw)
		}
		k.end(t)
		up.Close()
	}
}

func TestCallsBesideAnAsideReachTheClient(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{false, true} {
		o := &oracle{t: t}
		up := httptest.NewServer(o)
		k := besides(t, t.TempDir(), up.URL, nil)
		o.answer = looksUp(k.shelved(t, "a\nb\n"), "own", "other")
		l := &loop{t: t, stream: streamed, said: []string{`{"role":"user","content":"Which?"}`},
			tools: `"tools":[{"type":"function","function":{"name":"own"}},{"type":"function","function":{"name":"other"}}],`}
		a, err := l.asks(k.url())
		if err != nil {
			t.Fatal(err)
		}
		calls := a.Get("choices.0.message.tool_calls").Array()
		if len(calls) != 2 || calls[0].Get("function.name").Str != "own" || calls[1].Get("function.arguments").Str != `{"x":1}` {
			t.Fatalf("streamed %v: the client got %s", streamed, l.raw)
		}
		for _, c := range calls {
			l.said = append(l.said, `{"role":"tool","tool_call_id":"`+c.Get("id").Str+`","content":"own result"}`)
		}
		if a, err = l.asks(k.url()); err != nil || a.Get("choices.0.message.content").Str != "It is own result." {
			t.Fatalf("%v %s", err, l.raw)
		}
		sent := o.bodies[1].Get("messages").Array()
		if len(sent) != 5 || len(sent[1].Get("tool_calls").Array()) != 3 || sent[2].Get("content").Str != "b\n" {
			t.Errorf("the next request is %s", o.bodies[1].Raw)
		}
		o.extends(t)
		k.end(t)
		up.Close()
	}
}

func TestAModelThatAsksForEverIsEnded(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{false, true} {
		o := &oracle{t: t, answer: func([]gjson.Result) utterance { return utterance{recall: []string{`{"artifact":"x"}`}} }}
		up := httptest.NewServer(o)
		k := besides(t, t.TempDir(), up.URL, nil)
		l := &loop{t: t, stream: streamed, said: []string{`{"role":"user","content":"Which?"}`}}
		a, err := l.asks(k.url())
		if err != nil || a.Get("choices.0.finish_reason").Str != "stop" || a.Get("choices.0.message.tool_calls").IsArray() {
			t.Errorf("streamed %v: %v %s", streamed, err, l.raw)
		}
		last := o.bodies[len(o.bodies)-1].Get("messages").Array()
		if len(o.bodies) != aside.MostRounds+1 || !strings.Contains(last[len(last)-1].Raw, "Answer now") ||
			strings.Contains(last[10].Raw, "Answer now") {
			t.Errorf("%d requests, the last is %v", len(o.bodies), last)
		}
		k.end(t)
		up.Close()
	}
}

func TestWhatFailsWithinAnAnswerIsNeverCompleted(t *testing.T) {
	t.Parallel()
	f := func(streamed bool, status int, cut bool, want string) {
		t.Helper()
		o := &oracle{t: t, breaks: 2, status: status, cut: cut}
		up := httptest.NewServer(o)
		defer up.Close()
		k := besides(t, t.TempDir(), up.URL, nil)
		defer k.end(t)
		o.answer = looksUp(k.shelved(t, "a\nb\n"))
		l := &loop{t: t, stream: streamed, said: []string{`{"role":"user","content":"Which?"}`}}
		_, err := l.asks(k.url())
		if n := o.count(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(l.raw, "[DONE]") || n != 2 {
			t.Errorf("%v, after %d requests: %s", err, n, l.raw)
		}
		source := event.UsageProvider // of a refusal nothing is paid, and the round before has told its tokens
		if cut {
			source = event.UsageCounted
		}
		if u := told(t, k).Usage; u.Cut != cut || u.Source != source || cut != (u.Input > 100) {
			t.Errorf("streamed %v, %d: told is %+v", streamed, status, u)
		}
	}
	f(true, 0, true, "unexpected EOF")
	f(true, noStatus, true, "connection reset")
	f(true, http.StatusTooManyRequests, false, "unexpected EOF")
	f(false, http.StatusTooManyRequests, false, "429") // nothing of an answer was given: the client may ask again
}

func TestConversationsThatBeganWithoutTheToolNeverGetIt(t *testing.T) {
	o := &oracle{t: t, answer: func([]gjson.Result) utterance { return utterance{text: "ok"} }}
	up := httptest.NewServer(o)
	defer up.Close()
	k := besides(t, t.TempDir(), up.URL, nil)
	defer k.end(t)
	f := func(stays bool, tools string, said ...string) {
		t.Helper()
		l := &loop{t: t, said: said, tools: tools}
		if _, err := l.asks(k.url()); err != nil {
			t.Fatal(err)
		}
		last := o.bodies[len(o.bodies)-1]
		want := `{"model":"gpt-4o",` + tools + `"messages":[` + strings.Join(said, ",") + `]}`
		if (last.Raw == want) != stays {
			t.Errorf("sent was %s", last.Raw)
		}
	}
	user, reply := `{"role":"user","content":"begun before"}`, `{"role":"assistant","content":"ok"}`
	f(true, "", user, reply, user)
	f(true, `"n":2,`, user)
	f(true, `"tools":[{"type":"function","function":{"name":"epitome_recall"}}],`, user)
	f(false, `"tool_choice":"none","tools":[],`, user)
	f(false, "", user, reply, user) // it began again with the tool
}

func TestAsidesAreTold(t *testing.T) {
	o := &oracle{t: t}
	up := httptest.NewServer(o)
	defer up.Close()
	k := besides(t, t.TempDir(), up.URL, nil)
	defer k.end(t)
	o.answer = looksUp(k.shelved(t, "a\nb\n"))
	l := &loop{t: t, said: []string{`{"role":"user","content":"Which?"}`}}
	if _, err := l.asks(k.url()); err != nil {
		t.Fatal(err)
	}
	if e := told(t, k); e.Asides != 1 || e.Usage.Input != 200 || e.Usage.Output != 20 || e.Fault != event.None {
		t.Errorf("told is %+v", e)
	}
}

// told is the first exchange.
func told(t *testing.T, k *kept) (e event.Exchange) {
	t.Helper()
	err := error(nil)
	scriptedtest.Eventually(func() bool { // the event is made behind the answer
		e, err = k.book.Exchange(1)
		return err == nil
	})
	if err != nil {
		t.Error(err)
	}
	return e
}

// TestAModelReadsWhatAStubNames: a result is too large when it comes, and the model finds in it what it is asked for.
func TestAModelReadsWhatAStubNames(t *testing.T) {
	var lines strings.Builder
	for n := range 6000 {
		fmt.Fprintf(&lines, "order %d was refunded as it should be\\n", n)
		if n == 3210 {
			lines.WriteString("note: the clerk is called Marvin\\n")
		}
	}
	named := regexp.MustCompile(`artifact ([a-z2-7]{26})`)
	o := &oracle{t: t, answer: func(messages []gjson.Result) utterance {
		last := messages[len(messages)-1]
		found := named.FindStringSubmatch(last.Get("content").Str)
		switch {
		case last.Get("role").Str == "user":
			return utterance{calls: []string{"orders"}}
		case found != nil && strings.Contains(last.Get("content").Str, "epitome's tool recall"):
			return utterance{recall: []string{`{"artifact":"` + found[1] + `","grep":"clerk"}`}}
		}
		return utterance{text: "I read: " + last.Get("content").Str}
	}}
	up := httptest.NewServer(o)
	defer up.Close()
	k := besides(t, t.TempDir(), up.URL, nil)
	defer k.end(t)
	l := &loop{t: t, stream: true, tools: `"tools":[{"type":"function","function":{"name":"orders"}}],`,
		said: []string{`{"role":"user","content":"What is the clerk called?"}`}}
	a, err := l.asks(k.url())
	if err != nil {
		t.Fatal(err)
	}
	id := a.Get("choices.0.message.tool_calls.0.id").Str
	l.said = append(l.said, `{"role":"tool","tool_call_id":"`+id+`","content":"`+lines.String()+`"}`)
	if a, err = l.asks(k.url()); err != nil || a.Get("choices.0.message.content").Str != "I read: 3212:note: the clerk is called Marvin\n" {
		t.Errorf("%v %s", err, l.raw)
	}
	o.extends(t)
}

// TestEncodedRequestsAreWovenInto: the provider gets plain ones, and is asked for plain answers.
func TestEncodedRequestsAreWovenInto(t *testing.T) {
	o := &oracle{t: t}
	var head http.Header
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head = r.Header
		o.ServeHTTP(w, r)
	}))
	defer up.Close()
	k := besides(t, t.TempDir(), up.URL, nil)
	defer k.end(t)
	o.answer = looksUp(k.shelved(t, "a\nb\n"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, `{"model":"gpt-4o","messages":[{"role":"user","content":"Which?"}]}`)
	_ = z.Close()
	req, _ := http.NewRequest(http.MethodPost, k.url()+"/v1/chat/completions", &packed)
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Accept-Encoding", "gzip, br")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	all, _ := io.ReadAll(resp.Body)
	if got := gjson.GetBytes(all, "choices.0.message.content").Str; got != "Let me look.\n\nIt is b." || len(o.bodies) != 2 {
		t.Errorf("%s, after %d requests", all, len(o.bodies))
	}
	if head.Get("Accept-Encoding") != "identity" || head.Get("Content-Encoding") != "" {
		t.Errorf("the head is %v", head)
	}
}

// TestAClientThatLeavesEndsTheRounds: nothing more is asked for it.
func TestAClientThatLeavesEndsTheRounds(t *testing.T) {
	o := &oracle{t: t, answer: func([]gjson.Result) utterance { return utterance{recall: []string{`{}`}} }}
	asked, gone := make(chan bool, 10), make(chan bool)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked <- true; len(o.bodies) == 1 {
			_, _ = io.Copy(io.Discard, r.Body) // or nobody notices that it leaves
			<-r.Context().Done()
			close(gone)
			return
		}
		o.ServeHTTP(w, r)
	}))
	defer up.Close()
	k := besides(t, t.TempDir(), up.URL, nil)
	defer k.end(t)
	ctx, leave := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, k.url()+"/v1/chat/completions",
		strings.NewReader(`{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"Which?"}]}`))
	go func() {
		<-asked
		<-asked
		leave()
	}()
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
	<-gone
	if err == nil || len(asked) > 0 {
		t.Errorf("%v, and %d more requests", err, len(asked))
	}
}
