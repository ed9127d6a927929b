package responses_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"epitome/internal/need"
	"epitome/scripted/responses"
	"epitome/scripted/responses/rules"
	"epitome/scripted/scriptedtest"
)

func TestStreamsHaveEachKindOfEvent(t *testing.T) {
	c := newClient(t, responses.Options{})
	c.settings += `"stream":true,"reasoning":{"summary":"auto"},`
	c.user("x")
	f := func(i responses.Item, want string) {
		t.Helper()
		c.server.Next(responses.Turn{Items: []responses.Item{i}})
		_, header, text := c.post(c.body())
		if got := names(t, text); got != "created in_progress output_item.added "+want+"output_item.done completed" {
			t.Errorf("got %s", got)
		}
		if kind := header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
			t.Errorf("the stream is %s", kind)
		}
	}
	f(responses.Text("abc"), "content_part.added output_text.delta output_text.done content_part.done ")
	f(responses.Text(strings.Repeat("abc", 30)), "content_part.added output_text.delta output_text.delta output_text.done content_part.done ")
	f(responses.Text(""), "content_part.added output_text.done content_part.done ")
	f(responses.Decline("no"), "content_part.added refusal.delta refusal.done content_part.done ")
	f(responses.Think("hm"), "reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done ")
	f(responses.Call("", "ls", "{}"), "function_call_arguments.delta function_call_arguments.done ")
	f(responses.Custom("", "patch", "x"), "custom_tool_call_input.delta custom_tool_call_input.done ")
	f(responses.Raw(`{"type":"web_search_call","id":"ws_1","status":"completed"}`),
		"web_search_call.in_progress web_search_call.searching web_search_call.completed ")
	f(responses.Compaction("all"), "")
}

func TestStreamsBreakOffAsScripted(t *testing.T) {
	c := newClient(t, responses.Options{})
	plain := c.settings
	c.user("x")
	f := func(turn responses.Turn, streamed bool, want string) {
		t.Helper()
		turn.Items = []responses.Item{responses.Text("abc")}
		c.settings = plain
		if streamed {
			c.settings += `"stream":true,`
		}
		c.server.Next(turn)
		status, _, text := c.post(c.body())
		got := names(t, text)
		if !streamed {
			got = http.StatusText(status)
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(responses.Turn{Fail: rules.Overloaded()}, true, "created failed")
	f(responses.Turn{Fail: rules.Overloaded(), After: 4}, true, "created in_progress output_item.added content_part.added failed")
	f(responses.Turn{Error: rules.Overloaded(), After: 2}, true, "created in_progress error")
	f(responses.Turn{Fail: rules.Overloaded()}, false, "Service Unavailable")
	f(responses.Turn{Error: rules.Limited()}, false, "Too Many Requests")
	f(responses.Turn{Refuse: rules.Limited()}, true, "")
	f(responses.Turn{Cut: true, After: 3}, true, "created in_progress output_item.added")
	f(responses.Turn{Stop: "content_filter"}, true,
		"created in_progress output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done incomplete")
}

func TestOverflowsAreToldAsAsked(t *testing.T) {
	f := func(how rules.Overflow, stream string, want int, words string) {
		t.Helper()
		m := rules.ModelOf("gpt-5")
		m.Window, m.Overflow = 100, how
		c := newClient(t, responses.Options{Models: map[string]rules.Model{"gpt-5": m}})
		plain := c.settings
		c.settings += stream
		c.server.Next(responses.Say("Fits."))
		status, _, text := c.user(strings.Repeat("a", 400)).post(c.body())
		if status != want || !strings.Contains(string(text), words) {
			t.Errorf("%d: got %d %s\nwant %d %s", how, status, text, want, words)
		}
		if r := c.server.Received()[0]; r.Judged != (how < rules.EndsAtOnce) || r.Tokens != 104 {
			t.Errorf("%d: recorded %d tokens, %v", how, r.Tokens, r.Refusal)
		}
		c.history, c.settings = nil, plain
		if _, _, text := c.user("x").post(c.body()); how < rules.EndsAtOnce && !strings.Contains(string(text), "Fits.") {
			t.Errorf("%d: what was refused has used up a turn: %s", how, text)
		}
	}
	const streamed, long = `"stream":true,`, "Your input exceeds the context window of this model. Please adjust your input and try again."
	f(rules.TooLong, "", 400, `{"error":{"code":"context_length_exceeded","message":"`+long+`","param":"input","type":"invalid_request_error"}}`)
	f(rules.TooLong, streamed, 400, long)
	f(rules.TooLarge, "", 413, "Maximum request size exceeded.")
	f(rules.WrappedByProxy, "", 400, "litellm.ContextWindowExceededError")
	f(rules.SaidByLlama, "", 400, `"n_prompt_tokens":104,"n_ctx":100`)
	f(rules.SaidByVLLM, "", 400, "maximum context length is 100 tokens. However, your request has 104 input tokens.")
	f(rules.FailsInStream, "", 400, long)
	f(rules.FailsInStream, streamed, 200, `"error":{"code":"context_length_exceeded","message":"`+long+`"}`)
	f(rules.FailsWithoutWords, streamed, 200, `"error":{"code":"context_length_exceeded","message":""}`)
	f(rules.ErrorInStream, streamed, 200, `{"code":"context_length_exceeded","message":"`+long+`","param":"input","sequence_number":2,"type":"error"}`)
	f(rules.ErrorObject, streamed, 200, `{"error":{"code":"context_length_exceeded","message":"`+long)
	f(rules.EndsAtOnce, "", 200, `"incomplete_details":{"reason":"max_output_tokens"}`)
	f(rules.EndsAtOnce, streamed, 200, `event: response.incomplete`)
	f(rules.CutsSilently, "", 200, `"input_tokens":100,`)
}

func TestOutputEndsAtItsBounds(t *testing.T) {
	f := func(most, want string, sums bool) {
		t.Helper()
		m := rules.ModelOf("gpt-5")
		m.Window, m.SumsOutput = 100, sums
		c := newClient(t, responses.Options{Models: map[string]rules.Model{"gpt-5": m}})
		c.settings += `"max_output_tokens":` + most + ","
		said := []responses.Item{responses.Text(strings.Repeat("abcd", 20)), responses.Call("", "ls", "{}")}
		c.server.Next(responses.Turn{Items: said})
		a, _ := c.user("abcd").ask()
		got := a.Status + " " + a.Incomplete.Reason + a.Error.Message
		for _, item := range a.Output {
			var i struct{ Type, Status string }
			_ = json.Unmarshal(item, &i)
			got += " " + i.Type + ":" + i.Status
		}
		if got != want {
			t.Errorf("max_output_tokens %s: got %s, want %s", most, got, want)
		}
	}
	f("21", "completed  message:completed function_call:completed", false)
	f("20", "incomplete max_output_tokens message:completed", false)
	f("19", "incomplete max_output_tokens message:incomplete", false)
	f("95", "completed  message:completed function_call:completed", true)
	f("96", " This model's maximum context length is 100 tokens. However, you requested 101 tokens (5 in the messages, 96 in the "+
		"completion). Please reduce the length of the messages or completion.", true)
}

func TestUsageTellsOfTheCache(t *testing.T) {
	c := newClient(t, responses.Options{})
	first, _ := c.user(strings.Repeat("a", 8000)).ask()
	second, _ := c.user("b").ask()
	if first.Usage.Input != 2004 || first.Usage.Details.Cached != 0 || second.Usage.Details.Cached != 1920 ||
		second.Usage.Output != 2 {
		t.Errorf("got %+v, then %+v", first.Usage, second.Usage)
	}
	if u := c.server.Received()[1].Usage; u.Cached != 1920 || u.Output != 2 {
		t.Errorf("recorded %+v", u)
	}
	c.settings = strings.Replace(c.settings, "gpt-5", "gpt-5.6", 1)
	if third, _ := c.ask(); third.Usage.Details.Written != third.Usage.Input-6 {
		t.Errorf("with breakpoints %+v", third.Usage)
	}
}

func TestInputTokensCountsAndChangesNothing(t *testing.T) {
	c := newClient(t, responses.Options{})
	c.path = "/v1/responses/input_tokens"
	if _, _, text := c.user("abcdefgh").post(c.body()); string(text) != `{"input_tokens":6,"object":"response.input_tokens"}` {
		t.Errorf("counted %s", text)
	}
	c.path = "/v1/responses"
	if a, _ := c.ask(); !strings.HasSuffix(a.ID, "01") {
		t.Errorf("counting used up an answer: %s", a.ID)
	}
}

func TestWhatIsNotAskedForIsNotServed(t *testing.T) {
	c := newClient(t, responses.Options{Bytes: 200, Key: "k"})
	c.user("x").refused(200, "")
	c.key = "l"
	c.refused(401, "Incorrect API key provided.")
	c.key = "k"
	c.user(strings.Repeat("x", 200)).refused(413, "Maximum request size exceeded.")
	c.history = nil
	c.path = "/responses"
	c.user("x").refused(404, "Invalid URL (POST /responses)")
	get := func(path string, want int, header ...string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, c.server.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := scriptedtest.Direct().Do(r)
		if err != nil || resp.StatusCode != want {
			t.Errorf("GET %s: %v %v, want %d", path, resp, err, want)
		}
	}
	get("/v1/responses", 426, "Connection", "Upgrade", "Upgrade", "websocket")
	get("/v1/responses", 404)
	get("/v1/models", 200)
	get("/v1/responses/resp_1", 404)
}

func TestBackgroundIsFetched(t *testing.T) {
	c := newClient(t, responses.Options{})
	c.settings = `"model":"gpt-5","background":true,`
	a, _ := c.user("x").ask()
	if a.Status != "queued" || len(a.Output) > 0 {
		t.Errorf("at first %+v", a)
	}
	resp, err := scriptedtest.Direct().Get(c.server.URL() + "/v1/responses/" + a.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || a.Status != "completed" || len(a.Output) != 1 {
		t.Errorf("then %+v %v", a, err)
	}
}

func TestBodiesMayBeCompressed(t *testing.T) {
	c := newClient(t, responses.Options{})
	body := c.user("x").body()
	f := func(coding string, compressed []byte) {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, c.server.URL()+c.path, bytes.NewReader(compressed))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Encoding", coding)
		resp, err := scriptedtest.Direct().Do(r)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %v %v", coding, resp, err)
		}
		if all := c.server.Received(); string(all[len(all)-1].Body) != body {
			t.Errorf("%s arrives as %s", coding, all[len(all)-1].Body)
		}
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(body))
	_ = w.Close()
	f("gzip", zipped.Bytes())
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	f("zstd", z.EncodeAll([]byte(body), nil))
}

func TestTheSameRequestsGetTheSameBytes(t *testing.T) {
	play := func() string {
		c := newClient(t, responses.Options{})
		c.settings += `"stream":true,`
		c.server.Next(responses.Turn{Items: []responses.Item{responses.Think("hm"), responses.Call("", "bash", `{"a":1,"b":2}`)}})
		_, _, text := c.user("x").post(c.body())
		return string(text)
	}
	if a, b := play(), play(); a != b {
		t.Errorf("first %s\nthen %s", a, b)
	}
}

func TestAnAnswerWaitsForItsHold(t *testing.T) {
	hold, entered := make(chan struct{}), make(chan struct{})
	c := newClient(t, responses.Options{Otherwise: func(r responses.Received) responses.Turn {
		if bytes.Contains(r.Body, []byte("later")) {
			close(entered)
			return responses.Turn{Items: []responses.Item{responses.Text("late")}, Hold: hold}
		}
		return responses.Say("soon")
	}})
	late := *c
	late.user("later")
	done := make(chan answer)
	go func() {
		a, _ := late.ask()
		done <- a
	}()
	<-entered
	if a, _ := c.user("now").ask(); !strings.HasSuffix(a.ID, "01") {
		t.Errorf("the held one was answered first: %s", a.ID)
	}
	close(hold)
	if a := <-done; !strings.HasSuffix(a.ID, "02") {
		t.Errorf("the held one is %s", a.ID)
	}
}

// TestRecordedRequestsAreSound holds the rules to what real clients sent and real servers took.
func TestRecordedRequestsAreSound(t *testing.T) {
	all, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "clients", "*.json"))
	if err != nil || len(all) == 0 {
		need.Skip(t, "there are no recorded requests (%v)", err)
	}
	sound := 0
	for _, path := range all {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var request struct{ Input json.RawMessage }
		if json.Unmarshal(body, &request) != nil || request.Input == nil {
			continue
		}
		s := responses.New(responses.Options{})
		if err := s.Adopt(body); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if refused := s.Judge(http.Header{}, body); refused != nil {
			t.Errorf("%s: %v", path, refused)
		}
		sound++
	}
	if sound < 20 {
		t.Errorf("%d of %d recorded requests are of this API", sound, len(all))
	}
}
