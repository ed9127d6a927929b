package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/rewrite/aside"
	"epitome/rewrite/chat"
)

// utterance is what a model says in one round.
type utterance struct {
	text   string
	recall []string // arguments of calls of epitome's tool, which come first
	calls  []string // names of the client's tools that are called
}

// oracle is an upstream of Chat Completions that says what it is told to, and holds each request to the one before.
type oracle struct {
	t      *testing.T
	answer func(messages []gjson.Result) utterance

	mu     sync.Mutex
	bodies []gjson.Result
	rounds int
	status int // of what comes instead of an answer, from the round breaks on
	breaks int
	cut    bool // or it breaks off
}

// noStatus is that the connection ends in place of an answer.
const noStatus = -1

// count is how many requests came; one that was not answered may be still under way.
func (o *oracle) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.bodies)
}

func (o *oracle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	body := gjson.ParseBytes(raw)
	o.bodies = append(o.bodies, body)
	o.rounds++
	if req, err := chat.Read(raw); err != nil || len(req.Dialect.Flaws(req)) > 0 {
		o.t.Errorf("the provider would refuse %s", raw)
	}
	if o.breaks > 0 && o.rounds >= o.breaks && o.status == noStatus {
		panic(http.ErrAbortHandler)
	}
	if o.breaks > 0 && o.rounds >= o.breaks && o.status > 0 {
		w.WriteHeader(o.status)
		_, _ = io.WriteString(w, `{"error":{"message":"busy"}}`)
		return
	}
	s := o.answer(body.Get("messages").Array())
	if body.Get("stream").Bool() {
		o.stream(w, s)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": fmt.Sprint("r", o.rounds), "created": o.rounds, "object": "chat.completion", "model": "gpt-4o",
		"choices": []any{map[string]any{"index": 0, "finish_reason": s.why(),
			"message": map[string]any{"role": "assistant", "content": s.content(), "refusal": nil, "tool_calls": o.calls(s)}}},
		"usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
	})
}

func (s utterance) why() string {
	if len(s.recall)+len(s.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (s utterance) content() any {
	if s.text == "" {
		return nil
	}
	return s.text
}

// calls are those of a round, as a whole answer has them.
func (o *oracle) calls(s utterance) (list []any) {
	add := func(name, arguments string) {
		list = append(list, map[string]any{"id": fmt.Sprintf("c%d_%d", o.rounds, len(list)), "type": "function",
			"function": map[string]any{"name": name, "arguments": arguments}})
	}
	for _, arguments := range s.recall {
		add(aside.Tool, arguments)
	}
	for _, name := range s.calls {
		add(name, `{"x":1}`)
	}
	return list
}

// stream answers in small pieces.
func (o *oracle) stream(w http.ResponseWriter, s utterance) {
	w.Header().Set("Content-Type", "text/event-stream")
	piece := func(delta any, why any) {
		text, _ := json.Marshal(map[string]any{"id": fmt.Sprint("r", o.rounds), "created": o.rounds,
			"object": "chat.completion.chunk", "model": "gpt-4o",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": why}}})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
		_ = http.NewResponseController(w).Flush()
	}
	piece(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, word := range strings.SplitAfter(s.text, " ") {
		piece(map[string]any{"content": word}, nil)
	}
	if o.cut && o.rounds >= o.breaks {
		panic(http.ErrAbortHandler)
	}
	for i, c := range o.calls(s) {
		call, _ := c.(map[string]any)
		f, _ := call["function"].(map[string]any)
		arguments, _ := f["arguments"].(string)
		call["index"], f["arguments"] = i, ""
		piece(map[string]any{"tool_calls": []any{call}}, nil)
		half := len(arguments) / 2
		for _, part := range []string{arguments[:half], arguments[half:]} {
			piece(map[string]any{"tool_calls": []any{map[string]any{"index": i,
				"function": map[string]any{"arguments": part}}}}, nil)
		}
	}
	piece(map[string]any{}, s.why())
	_, _ = fmt.Fprintf(w, "data: {\"id\":\"r%d\",\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":10,"+
		"\"total_tokens\":110}}\n\ndata: [DONE]\n\n", o.rounds)
}

// extends reports that each request says what the one before said, and goes on.
func (o *oracle) extends(t *testing.T) {
	t.Helper()
	for i := 1; i < len(o.bodies); i++ {
		before, now := o.bodies[i-1].Get("messages").Array(), o.bodies[i].Get("messages").Array()
		for n, m := range before {
			if n >= len(now) || now[n].Raw != m.Raw {
				t.Fatalf("request %d does not go on from the one before: message %d was %s, and the request is %s", i, n,
					m.Raw, o.bodies[i].Raw)
			}
		}
		if o.bodies[i].Get("tools").Raw != o.bodies[0].Get("tools").Raw {
			t.Fatalf("request %d has other tools", i)
		}
	}
}

// loop is a bare agent of Chat Completions: it knows no tool but its own.
type loop struct {
	t      *testing.T
	stream bool
	tools  string
	said   []string
	usage  gjson.Result // of the last answer
	raw    string       // the last answer
}

// asks sends the conversation, and takes the answer into it. err is why it got no whole one.
func (l *loop) asks(url string) (answer gjson.Result, err error) {
	l.t.Helper()
	body := `{"model":"gpt-4o",` + l.tools + `"messages":[` + strings.Join(l.said, ",") + `]`
	if l.stream {
		body += `,"stream":true,"stream_options":{"include_usage":true}`
	}
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body+"}"))
	if err != nil {
		return answer, err
	}
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	l.raw = string(all)
	if err != nil || resp.StatusCode != http.StatusOK {
		return answer, fmt.Errorf("%d %s: %w", resp.StatusCode, all, err)
	}
	if l.stream {
		all = l.join(all)
	}
	answer = gjson.ParseBytes(all)
	l.usage = answer.Get("usage")
	message := answer.Get("choices.0.message")
	l.said = append(l.said, message.Raw)
	return answer, nil
}

// join puts the pieces of a stream together, as SDKs do.
func (l *loop) join(stream []byte) []byte {
	l.t.Helper()
	message, calls := map[string]any{"role": "assistant"}, []map[string]any{}
	text, why, id, usage, starts, ends := "", "", "", any(nil), 0, 0
	for data := range strings.SplitSeq(strings.TrimSpace(string(stream)), "\n\n") {
		if data == "data: [DONE]" {
			ends++
			continue
		}
		v := gjson.Parse(strings.TrimPrefix(data, "data: "))
		if id != "" && id != v.Get("id").Str {
			l.t.Errorf("one answer has the ids %s and %s", id, v.Get("id").Str)
		}
		id = v.Get("id").Str
		if v.Get("choices.0.delta.role").Exists() {
			starts++
		}
		text += v.Get("choices.0.delta.content").Str
		if u := v.Get("usage"); u.IsObject() {
			usage = u.Value()
		}
		why += v.Get("choices.0.finish_reason").Str
		for _, c := range v.Get("choices.0.delta.tool_calls").Array() {
			n := int(c.Get("index").Int())
			if n > len(calls) {
				l.t.Errorf("call %d comes behind %d calls", n, len(calls))
			}
			if n == len(calls) {
				calls = append(calls, map[string]any{"id": c.Get("id").Str, "type": "function",
					"function": map[string]any{"name": c.Get("function.name").Str, "arguments": ""}})
			}
			f, _ := calls[n]["function"].(map[string]any)
			f["arguments"] = f["arguments"].(string) + c.Get("function.arguments").Str
		}
	}
	if starts != 1 || ends != 1 {
		l.t.Errorf("the stream has %d beginnings and %d ends: %s", starts, ends, stream)
	}
	message["content"] = text
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	all, _ := json.Marshal(map[string]any{"id": id, "usage": usage,
		"choices": []any{map[string]any{"message": message, "finish_reason": why}}})
	return all
}

// besides starts an epitome that has asides, in a folder, before an upstream; what is on the shelf is named.
func besides(t *testing.T, folder, upstream string, change func(*config.Config)) *kept {
	t.Helper()
	conf := config.Defaults(configtest.Text())
	conf.Listen, conf.Data, conf.Upstream, conf.Window.Probe = "127.0.0.1:0", folder, "up", false
	conf.Upstreams["up"] = conf.Upstreams["openai"]
	up := conf.Upstreams["up"]
	up.URL = upstream
	conf.Upstreams["up"] = up
	conf.Offload.Asides = true
	if change != nil {
		change(&conf)
	}
	k := &kept{signals: make(chan os.Signal, 1), ended: make(chan error, 1), log: &lockedBuffer{}}
	log := slog.New(slog.NewJSONHandler(k.log, nil))
	k.Daemon = New(log, k.signals, func() (config.Config, error) { return conf, nil })
	if err := k.Start(false); err != nil {
		t.Fatal(err)
	}
	go func() { k.ended <- k.Serve() }()
	return k
}

func (k *kept) url() string { return "http://" + k.Address() }

// shelved puts a content on the shelf.
func (k *kept) shelved(t *testing.T, content string) (name string) {
	t.Helper()
	shelf := k.shapers.storage.shelf
	name = shelf.Name("", []byte(content))
	if err := shelf.Put(name, []byte(content)); err != nil {
		t.Fatal(err)
	}
	return name
}

// answered200 is the body of an answer that is a good one.
func answered200(t *testing.T, req *http.Request) string {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", resp.StatusCode, raw, err)
	}
	return string(raw)
}
