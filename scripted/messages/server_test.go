package messages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/scripted/messages"
	"epitome/scripted/messages/rules"
	"epitome/scripted/scriptedtest"
)

// answer is what a test reads of an answer.
type answer struct {
	ID         string            `json:"id"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      map[string]any    `json:"usage"`
	Drops      []any             `json:"input_transformations"`
	Error      struct{ Type, Message string }
}

// client is an agent: it sends back what it was answered, as it came.
type client struct {
	t        *testing.T
	server   *messages.Server
	path     string
	beta     string
	settings string // fields before the messages, each with a comma behind it
	history  []string
}

// newClient talks to a server about a model.
func newClient(t *testing.T, o messages.Options, model string) *client {
	return &client{t: t, server: scriptedtest.StartMessages(t, o), path: "/v1/messages?beta=true",
		settings: fmt.Sprintf(`"model":%q,"max_tokens":4096,`, model)}
}

// post sends a body and returns status, type and body of the answer.
func (c *client) post(body string) (int, string, []byte) {
	c.t.Helper()
	req, err := http.NewRequest(http.MethodPost, c.server.URL()+c.path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("anthropic-version", "2023-06-01")
	req.Header.Set("anthropic-beta", c.beta)
	resp, err := scriptedtest.Direct().Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil && !strings.Contains(err.Error(), "unexpected EOF") {
		c.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), text
}

// body is a request with the whole history.
func (c *client) body() string {
	return `{` + c.settings + `"messages":[` + strings.Join(c.history, ",") + `]}`
}

// user adds a message of the user; content is JSON.
func (c *client) user(content string) *client {
	c.history = append(c.history, `{"role":"user","content":`+content+`}`)
	return c
}

// ask sends the history, and adds the answer to it if there is one. It returns the status with it.
func (c *client) ask() (answer, int) {
	c.t.Helper()
	status, _, text := c.post(c.body())
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	if status == http.StatusOK {
		content, err := json.Marshal(a.Content)
		if err != nil {
			c.t.Fatal(err)
		}
		c.history = append(c.history, `{"role":"assistant","content":`+string(content)+`}`)
	}
	return a, status
}

// usage is in short what an answer says of tokens.
func (a answer) usage() string {
	return fmt.Sprintf("%v+%v+%v>%v", a.Usage["input_tokens"], a.Usage["cache_read_input_tokens"],
		a.Usage["cache_creation_input_tokens"], a.Usage["output_tokens"])
}

func TestTurnsAreAnsweredInOrder(t *testing.T) {
	c := newClient(t, messages.Options{Otherwise: func(r messages.Received) messages.Turn {
		return messages.Say(fmt.Sprintf("after %d", r.Answered))
	}}, "claude-sonnet-4-5")
	c.server.Next(messages.Say("one"), messages.Turn{Refuse: rules.Overloaded()},
		messages.Turn{Blocks: []messages.Block{messages.Text("two"), messages.Call("", "Bash", `{"a":1}`)}})
	f := func(status int, stop, content string) {
		t.Helper()
		a, got := c.user(`"x"`).ask()
		var all []string
		for _, b := range a.Content {
			all = append(all, string(b))
		}
		if got != status || a.StopReason != stop || strings.Join(all, ",") != content {
			t.Errorf("got %d %q %s", got, a.StopReason, all)
		}
	}
	f(200, "end_turn", `{"type":"text","text":"one"}`)
	f(529, "", "")
	f(200, "tool_use", `{"type":"text","text":"two"},{"type":"tool_use","id":"toolu_0000000000000000000001","name":"Bash","input":{"a":1}}`)
	f(400, "", "") // the call has no result: no turn is used up
	c.history[len(c.history)-1] = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0000000000000000000001"}]}`
	f(200, "end_turn", `{"type":"text","text":"after 2"}`)

	all := c.server.Received()
	if len(all) != 5 || all[3].Refusal == nil || !all[3].Judged || all[1].Judged || all[4].N != 5 ||
		all[4].Target != c.path {
		t.Errorf("received %+v", all)
	}
	if refusals := c.server.Refusals(); len(refusals) != 1 || !strings.Contains(refusals[0].Message, "`tool_use` ids were found") {
		t.Errorf("refusals %v", refusals)
	}
}

func TestStreamIsTheAnswer(t *testing.T) {
	c := newClient(t, messages.Options{}, "claude-sonnet-4-5")
	c.settings += `"thinking":{"type":"enabled","budget_tokens":1024},"stream":true,`
	text := strings.Repeat("é", 50)
	c.server.Next(messages.Turn{Blocks: []messages.Block{
		messages.Think("hm"), messages.Text(text), messages.Call("t1", "Bash", `{"a":"b"}`)}})
	status, kind, stream := c.user(`"x"`).post(c.body())
	var shape []string
	joined := map[string]string{}
	for frame := range strings.SplitSeq(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(strings.TrimPrefix(frame, "event: "), "\ndata: ")
		var e struct {
			Type         string
			Index        int
			ContentBlock struct{ Type string } `json:"content_block"`
			Delta        map[string]any
			Usage        map[string]any
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil || e.Type != name {
			t.Fatalf("%s: %v", frame, err)
		}
		switch name {
		case "content_block_delta":
			for field, piece := range e.Delta {
				joined[field] += fmt.Sprint(piece)
			}
			continue
		case "content_block_start":
			name = fmt.Sprintf("%d %s", e.Index, e.ContentBlock.Type)
		case "content_block_stop":
			name = fmt.Sprintf("%d end", e.Index)
		case "message_delta":
			name = fmt.Sprintf("%v %v", e.Delta["stop_reason"], e.Usage)
		}
		shape = append(shape, name)
	}
	const want = "message_start, 0 thinking, ping, 0 end, 1 text, 1 end, 2 tool_use, 2 end, " +
		"tool_use map[cache_creation_input_tokens:0 cache_read_input_tokens:0 input_tokens:5 output_tokens:30], message_stop"
	if got := strings.Join(shape, ", "); got != want || status != 200 || kind != "text/event-stream; charset=utf-8" {
		t.Errorf("%d %s\n got %s\nwant %s", status, kind, got, want)
	}
	if joined["text"] != text || joined["thinking"] != "hm" || joined["partial_json"] != `{"a":"b"}` || joined["signature"] == "" {
		t.Errorf("pieces %v", joined)
	}
}

func TestFailuresWithinAStream(t *testing.T) {
	c := newClient(t, messages.Options{}, "claude-sonnet-4-5")
	plain := c.settings
	c.user(`"x"`)
	f := func(turn messages.Turn, streamed bool, want string) {
		t.Helper()
		c.settings = plain + fmt.Sprintf(`"stream":%t,`, streamed)
		c.server.Next(turn)
		status, _, text := c.post(c.body())
		var names []string
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				names = append(names, strings.TrimSpace(name))
			}
		}
		if got := fmt.Sprint(status, names); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	blocks := []messages.Block{messages.Text("abc")}
	f(messages.Turn{Blocks: blocks, Fail: rules.Overloaded()}, true, "200 [message_start error]")
	f(messages.Turn{Blocks: blocks, Fail: rules.Overloaded(), After: 4}, true, "200 [message_start content_block_start ping content_block_delta error]")
	f(messages.Turn{Blocks: blocks, Fail: rules.Overloaded()}, false, "529 []")
	f(messages.Turn{Blocks: blocks, Cut: true, After: 2}, true, "200 [message_start content_block_start]")
	f(messages.Turn{Blocks: blocks}, true, "200 [message_start content_block_start ping content_block_delta content_block_stop message_delta message_stop]")
}

func TestOverflowsAreToldAsAsked(t *testing.T) {
	f := func(how rules.Overflow, stream string, want int, words string) {
		t.Helper()
		m := rules.ModelOf("m")
		m.Window, m.Overflow = 100, how
		c := newClient(t, messages.Options{Models: map[string]rules.Model{"m": m}}, "m")
		c.settings += stream
		c.server.Next(messages.Say("Fits."))
		status, _, text := c.user(`"` + strings.Repeat("a", 400) + `"`).post(c.body())
		if status != want || !strings.Contains(string(text), words) {
			t.Errorf("%d: got %d %s\nwant %d %s", how, status, text, want, words)
		}
		if r := c.server.Received()[0]; r.Judged != (how <= rules.FailsInStream) || r.Tokens != 104 {
			t.Errorf("%d: recorded %d tokens, %v", how, r.Tokens, r.Refusal)
		}
		if c.history = nil; how <= rules.FailsInStream { // what was refused has used up no turn
			if _, _, text := c.user(`"x"`).post(c.body()); !strings.Contains(string(text), "Fits.") {
				t.Errorf("%d: then got %s", how, text)
			}
		}
	}
	const long = "prompt is too long: 104 tokens > 100 maximum"
	f(rules.TooLong, "", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"`+long+`"}}`)
	f(rules.TooLarge, "", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`)
	f(rules.BedrockModel, "", 400, `{"message":"The model returned the following errors: `+long+`"}`)
	f(rules.BedrockInput, "", 400, `{"message":"Input is too long for requested model."}`)
	f(rules.WrappedByProxy, "", 400, `{\"type\":\"invalid_request_error\",\"message\":\"`+long+`\"}`)
	f(rules.RejectedByGate, "", 400, "capability_rejected: prompt_too_long")
	f(rules.FailsInStream, "", 400, long)
	f(rules.FailsInStream, `"stream":true,`, 200, `{"type":"error","error":{"type":"invalid_request_error","message":"`+long)
	f(rules.StopsAtOnce, "", 200, `"content":[],"stop_reason":"model_context_window_exceeded"`)
	f(rules.CutsSilently, "", 200, `"text":"Fits."`)
	f(rules.CutsSilently, "", 200, `"input_tokens":100,`)
}

func TestOutputEndsAtItsBounds(t *testing.T) {
	f := func(window, maxTokens int, sums bool, want string) {
		t.Helper()
		m := rules.ModelOf("m")
		m.Window, m.SumsOutput = window, sums
		c := newClient(t, messages.Options{Models: map[string]rules.Model{"m": m}}, "m")
		c.settings = fmt.Sprintf(`"model":"m","max_tokens":%d,`, maxTokens)
		c.server.Next(messages.Turn{Blocks: []messages.Block{messages.Text("abcdefgh"), messages.Call("t", "Bash", "{}")}})
		a, _ := c.user(`"abcd"`).ask()
		got := a.StopReason + a.Error.Message
		for _, b := range a.Content {
			got += " " + string(b)
		}
		if got != want {
			t.Errorf("window %d, max_tokens %d: got %s, want %s", window, maxTokens, got, want)
		}
	}
	const whole = `{"type":"text","text":"abcdefgh"}`
	const call = ` {"type":"tool_use","id":"t","name":"Bash","input":{}}`
	f(100, 4, false, "tool_use "+whole+call)
	f(100, 3, false, "max_tokens "+whole)
	f(100, 1, false, `max_tokens {"type":"text","text":"abcd"}`)
	f(100, 0, false, "max_tokens")
	f(9, 50, false, "tool_use "+whole+call)
	f(6, 50, false, `model_context_window_exceeded {"type":"text","text":"abcd"}`)
	f(5, 50, false, "model_context_window_exceeded")
	f(50, 45, true, "tool_use "+whole+call)
	f(50, 46, true, "input length and `max_tokens` exceed context limit: 5 + 46 > 50, decrease input length or `max_tokens` and try again")
}

func TestUsageTellsOfTheCache(t *testing.T) {
	c := newClient(t, messages.Options{Count: func(string) int { return 2000 }}, "claude-sonnet-4-5")
	c.settings += `"cache_control":{"type":"ephemeral"},`
	f := func(want string) {
		t.Helper()
		if a, _ := c.user(`"x"`).ask(); a.usage() != want {
			t.Errorf("got %s, want %s", a.usage(), want)
		}
	}
	f("0+0+2004>2000")
	f("0+2004+4008>2000")
	f("0+6012+4008>2000")
	c.server.Advance(6 * time.Minute)
	f("0+0+14028>2000")
	if u := c.server.Received()[1].Usage; u.Read != 2004 || u.Written != 4008 || u.Output != 2000 {
		t.Errorf("recorded %+v", u)
	}
}

func TestUsageListsEachRound(t *testing.T) {
	c := newClient(t, messages.Options{}, "claude-sonnet-4-5")
	plain := c.settings
	c.user(`"abcd"`)
	for _, stream := range []bool{false, true} {
		c.server.Next(messages.Turn{Blocks: []messages.Block{messages.Text("so")}, Rounds: []int{7, 11}})
		c.settings = plain + fmt.Sprintf(`"stream":%t,`, stream)
		_, _, text := c.post(c.body())
		const first = `{"type":"message","input_tokens":7,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}`
		const last = `{"type":"message","input_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}]`
		if !bytes.Contains(text, []byte(`"input_tokens":23`)) || !bytes.Contains(text, []byte(`"iterations":[`+first)) ||
			!bytes.Contains(text, []byte(last)) {
			t.Errorf("stream %t: %s", stream, text)
		}
	}
}

func TestCountTokensCountsAndChangesNothing(t *testing.T) {
	small := rules.ModelOf("claude-opus-5-5")
	small.Window = 50
	c := newClient(t, messages.Options{Models: map[string]rules.Model{"claude-opus-5-5": small}}, "claude-opus-5-5")
	c.path = "/v1/messages/count_tokens"
	f := func(body, want string) {
		t.Helper()
		if _, _, got := c.post(body); string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	const asked = `{"model":"claude-opus-5-5","messages":[{"role":"user","content":"abcdefgh"}]}`
	f(asked, `{"input_tokens":6}`)
	f(strings.Replace(asked, `abcdefgh`, strings.Repeat("a", 800), 1), `{"input_tokens":204}`)
	f(strings.Replace(asked, `"abcdefgh"`, `[]`, 1),
		`{"type":"error","error":{"type":"invalid_request_error","message":"messages.0: all messages must have non-empty content except for the optional final assistant message"}}`)
	c.beta = "context-management-2025-06-27"
	f(strings.Replace(asked, `{"model"`, `{"context_management":{"edits":[]},"model"`, 1),
		`{"context_management":{"original_input_tokens":6},"input_tokens":6}`)
	c.path = "/v1/messages"
	if a, _ := c.user(`"x"`).ask(); a.ID != "msg_000000000000000000000001" {
		t.Errorf("counting used up a turn: %s", a.ID)
	}
}

func TestSizeAndKeyAreChecked(t *testing.T) {
	c := newClient(t, messages.Options{Bytes: 100}, "claude-sonnet-4-5")
	status, _, text := c.user(`"` + strings.Repeat("a", 100) + `"`).post(c.body())
	if status != 413 || string(text) != `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}` {
		t.Errorf("a large body: %d %s", status, text)
	}
	c = newClient(t, messages.Options{Key: "k"}, "claude-sonnet-4-5")
	if status, _, text := c.user(`"x"`).post(c.body()); status != 401 || !strings.Contains(string(text), "authentication_error") {
		t.Errorf("without a key: %d %s", status, text)
	}
	c = newClient(t, messages.Options{}, "claude-sonnet-4-5")
	c.path = "/messages"
	if status, _, text := c.post(c.body()); status != 404 || !strings.Contains(string(text), "not_found_error") {
		t.Errorf("without /v1: %d %s", status, text)
	}
	resp, err := scriptedtest.Direct().Head(c.server.URL() + "/")
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("a probe: %v %v", resp, err)
	}
}

func TestTheSameRequestsGetTheSameBytes(t *testing.T) {
	play := func() string {
		c := newClient(t, messages.Options{}, "claude-opus-5-5")
		c.settings += `"stream":true,`
		c.server.Next(messages.Turn{Blocks: []messages.Block{
			messages.Think("hm"), messages.Redact("x"), messages.Call("", "Bash", `{"a":1,"b":2}`)}})
		_, _, text := c.user(`"x"`).post(c.body())
		return string(text)
	}
	if a, b := play(), play(); a != b {
		t.Errorf("first %s\nthen %s", a, b)
	}
}

func TestAnAnswerWaitsForItsHold(t *testing.T) {
	hold, entered := make(chan struct{}), make(chan struct{})
	c := newClient(t, messages.Options{Otherwise: func(r messages.Received) messages.Turn {
		if bytes.Contains(r.Body, []byte("later")) {
			close(entered)
			return messages.Turn{Blocks: []messages.Block{messages.Text("late")}, Hold: hold}
		}
		return messages.Say("soon")
	}}, "claude-sonnet-4-5")
	late := *c
	late.user(`"later"`)
	done := make(chan answer)
	go func() {
		a, _ := late.ask()
		done <- a
	}()
	<-entered
	if a, _ := c.user(`"now"`).ask(); a.ID != "msg_000000000000000000000001" {
		t.Errorf("the held one was answered first: %s", a.ID)
	}
	close(hold)
	if a := <-done; a.ID != "msg_000000000000000000000002" {
		t.Errorf("the held one is %s", a.ID)
	}
}
