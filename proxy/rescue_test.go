package proxy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/view"
)

// The wire with each of the dialects.
const (
	messagesTarget  = "/v1/messages"
	responsesTarget = "/v1/responses"

	longStory = `{"model":"m","max_tokens":9000,"messages":[{"role":"user","content":"a very long story, to be told ` +
		`again"}]}`
	longTask = `{"model":"m","max_output_tokens":9000,"input":[{"role":"user","content":"a very long story"}]}`

	tooLong = `{"error":{"message":"This model's maximum context length is 8000 tokens. However, your messages ` +
		`resulted in 10000 tokens. Please reduce the length of the messages.","type":"invalid_request_error",` +
		`"param":"messages","code":"context_length_exceeded"}}`
	unknownSize = `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your ` +
		`input and try again.","code":"context_length_exceeded"}}`
)

// climbing shapes a conversation of 10 000 tokens into what its stage makes of it: stage N has 10 000 / 2^N tokens.
func climbing(a rewrite.Input) rewrite.Output {
	r := rewrite.Report{Action: event.ActionNone, MaxOutput: 9_000, Shaping: event.Shaping{Model: "m",
		Conversation: "c1",
		Window:       1_000_000, Usable: 990_000, Items: 1, TokensBefore: event.Tokens{User: 10_000}}}
	r.TokensAfter = r.TokensBefore
	if a.Rescue == nil || a.Rescue.Whole {
		return rewrite.Output{Body: a.Body, Report: r}
	}
	tokens := 10_000
	enough := func() bool { return r.Stage >= a.Rescue.From && tokens <= a.Rescue.Most }
	for r.Stage = ladder.StageNone; r.Stage < ladder.StageBare && !enough(); tokens /= 2 {
		r.Stage++
	}
	r.Action, r.TokensAfter = string(view.StepCompact), event.Tokens{User: tokens}
	body := fmt.Sprintf(`{"model":"m","max_tokens":9000,"messages":[{"role":"user","content":"%s of at most %d"}]}`,
		r.Stage, a.Rescue.Most)
	return rewrite.Output{Body: []byte(body), Changed: true, Report: r}
}

// refused is an answer that refuses a conversation with this body.
func refused(status int, body string) string {
	return reply(strconv.Itoa(status)+" No", body, "Content-Type: application/json")
}

var welcome = ok(`{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":4900}}`,
	"Content-Type: application/json")

// named are the events of a stream, in one text, each with its type as its name.
func named(events ...string) string {
	text := ""
	for _, e := range events {
		_, kind, _ := strings.Cut(e, `"type":"`)
		kind, _, _ = strings.Cut(kind, `"`)
		text += "event: " + kind + "\ndata: " + e + "\n\n"
	}
	return text
}

// sentContents are the contents of the messages that the upstream got.
func (r *rig) sentContents() (list []string) {
	for _, q := range r.up.requests() {
		_, content, _ := strings.Cut(q.body, `"content":"`)
		content, _, _ = strings.Cut(content, `"`)
		list = append(list, content)
	}
	return list
}

func TestRefusedRequestSucceedsInTheSameCall(t *testing.T) {
	t.Parallel()
	packed := string(encode(t, []byte(tooLong), codings[0].encode))
	r := on(t, answers(reply("400 No", packed, "Content-Encoding: "+codings[0].name), welcome))
	r.shapes(climbing)
	resp, body := r.ask(post(chatTarget, longStory))
	if resp.StatusCode != 200 || !strings.Contains(body, `"hi"`) || resp.Header.Get("x-epitome-action") != "rescue" ||
		resp.Header.Get("x-epitome-tokens") != "10000>2500" {
		t.Errorf("got %d %v %s", resp.StatusCode, resp.Header, body)
	}
	if got := r.sentContents(); len(got) != 2 || got[1] != "compact of at most 4000" {
		t.Errorf("the upstream got %q", got)
	}
	e := r.event()
	want := event.Rescue{Kind: "input", Tries: 1, Stages: "compact", Rescued: true, TokensBefore: 10_000,
		TokensAfter:  2_500,
		WindowBefore: 1_000_000, WindowAfter: 8_000}
	if got := e.Rescue; got != want || e.Window != 8_000 || e.TokensAfter.Total() != 2_500 ||
		r.windows.Of("test", "m").Tokens != 8_000 {
		t.Errorf("%+v of %+v", got, e.Shaping)
	}
	r.allGivenBack()
}

// Events of Responses.
const (
	itemAdded = `{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message","content":[]}}`
	saidHello = `{"type":"response.output_text.delta","delta":"hello"}`
	wentWell  = `{"type":"response.completed","response":{"id":"second","status":"completed","output":[],` +
		`"usage":{"input_tokens":4810,"input_tokens_details":{"cached_tokens":4000},"output_tokens":3},"metadata":{}}}`
)

// stateOf is an event with a response as it stands: its settings are repeated in each.
func stateOf(kind, id, more string) string {
	const form = `{"type":"response.%s","response":{"id":%q,"object":"response",%s"instructions":%q,"output":[]}}`
	return fmt.Sprintf(form, kind, id, more, strings.Repeat("You are a coding agent. ", 1_500))
}

func TestTheFirstRefusalReachesTheClientIfNothingHelps(t *testing.T) {
	t.Parallel()
	r := on(t, answers(refused(400, unknownSize), refused(400, strings.Replace(unknownSize, "Your input",
		"Even this input", 1))))
	r.shapes(climbing)
	r.dial().send(post(chatTarget, longStory)).expect("HTTP/1.1 400 No\r\nContent-Type: " +
		"application/json\r\nContent-Length: " +
		strconv.Itoa(len(unknownSize)) + "\r\nx-epitome-action: none\r\nx-epitome-tokens: 10000>10000\r\n" +
		"x-epitome-conversation: c1\r\n\r\n" + unknownSize)
	want := []string{"a very long story, to be told again", "clear of at most 5000", "compact of at most 2500",
		"bare of at most 1250"}
	if got := r.sentContents(); !slices.Equal(got, want) {
		t.Errorf("the upstream got %q", got)
	}
	if e := r.event(); e.Rescue.Rescued || e.Rescue.Tries != 3 || e.Status != 400 {
		t.Errorf("%+v", e)
	}
	r.allGivenBack()
}

// Promise 10: a provider that is slow to refuse cannot make a rescue take much longer than a minute.
func TestARescueEndsWithinAMinute(t *testing.T) {
	t.Parallel()
	for took, tries := range map[time.Duration]int{19 * time.Second: 3, 45 * time.Second: 2, 61 * time.Second: 1} {
		r := on(t, answers(refused(400, unknownSize)))
		r.shapes(climbing)
		r.proxy.now = func() time.Time { return time.Unix(0, 0).Add(took * time.Duration(len(r.up.requests()))) }
		resp, body := r.ask(post(chatTarget, longStory))
		if resp.StatusCode != 400 || body != unknownSize {
			t.Errorf("%v a refusal: the client got %d %s", took, resp.StatusCode, body)
		}
		if got := r.event().Rescue.Tries; got != tries || len(r.up.requests()) != 1+tries {
			t.Errorf("%v a refusal: %d tries, want %d", took, got, tries)
		}
		r.allGivenBack()
	}
}

// An answer that is no refusal of this kind goes through as it came, and the request is sent once.
func TestOtherRefusalsReachTheClientByteForByte(t *testing.T) {
	t.Parallel()
	for _, sent := range []string{
		reply("429 Slow", `{"error":{"message":"Rate limit reached for m: Limit 30000, Used 29000, Requested 2000.",`+
			`"code":"rate_limit_exceeded"}}`, "Retry-After: 3"),
		reply("401 No", `{"error":{"message":"Incorrect API key provided."}}`),
		reply("400 Bad", `{"error":{"message":"Unsupported parameter: 'max_tokens'.","code":"unsupported_parameter"}}`),
		strings.Replace(chunkedHead, "200 OK", "500 Bad", 1) + chunks(`{"error":`, "{}}") + "0\r\nx-sum: 1\r\n\r\n",
		reply("502 Bad Gateway", "<html><title>502 Bad Gateway</title></html>", "Content-Type: text/html"),
		reply("400 Bad", `{"error`), reply("400 Bad", "no gzip", "Content-Encoding: gzip"),
	} {
		r := on(t, answers(sent))
		r.shapes(climbing)
		got := r.dial().send(post(chatTarget, longStory)).raw()
		got = strings.Replace(got, "x-epitome-action: none\r\nx-epitome-tokens: 10000>10000\r\n"+
			"x-epitome-conversation: c1\r\n", "", 1)
		if got != sent {
			t.Errorf("got\n%q, want\n%q", got, sent)
		}
		r.wantRequests(1)
	}
}

// A refusal is seen behind comments and other parts of a stream's frame, through a content coding, and in the form of
// another API.
func TestRefusalsWithinStreamsAreSeen(t *testing.T) {
	t.Parallel()
	const (
		comment = ": OPENROUTER PROCESSING\n\n"
		role    = `data: {"choices":[{"delta":{"role":"assistant"}}]}` + "\n\n"
		refusal = "data: " + tooLong + "\n\n"
		failed  = `data: {"type":"response.failed","response":{"error":{"code":"context_length_exceeded",` +
			`"message":"Your input exceeds the context window of this model."}}}` + "\n\n"
	)
	for _, stream := range []string{comment + refusal, comment + comment + role + comment + refusal, failed} {
		for _, coding := range codings {
			packed := string(encode(t, []byte(stream), coding.encode))
			coded := reply("200 OK", packed, "Content-Type: text/event-stream", "Content-Encoding: "+coding.name)
			for _, sent := range []string{streamed(stream), coded} {
				r := on(t, answers(sent, welcome))
				r.shapes(climbing)
				resp, body := r.ask(post(chatTarget, longStory))
				if resp.StatusCode != 200 || !strings.Contains(body, `"hi"`) || !r.event().Rescue.Rescued {
					t.Errorf("%s, %q: got %d %s", coding.name, sent, resp.StatusCode, body)
				}
				r.wantRequests(2)
			}
		}
	}
}

// What was held back goes on in order, as it came, and nothing waits for what comes later.
func TestStreamsAreOnlyHeldUntilTheyBegin(t *testing.T) {
	t.Parallel()
	const role = `data: {"choices":[{"delta":{"role":"assistant"}}]}`
	for _, first := range [][]string{
		{role, `data: {"choices":[{"delta":{"content":"a"}}]}`},
		{`data: {"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`},
		{role, `data: {"choices":[{"delta":{"content":"","reasoning_content":"hm"}}]}`},
		{`data: {"hello":1}`},
		{`data: {"error":"","choices":[{"delta":{"content":"a"}}]}`},
		{"event: failover\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}"},
	} {
		begin := chunks(strings.Join(first, "\n\n") + "\n\n")
		more := make(chan struct{})
		r := on(t, func(c *call) {
			c.send(strings.TrimSuffix(streamed(), lastChunk)+begin, "")
			<-more
			c.send(chunks("data: "+tooLong+"\n\n") + lastChunk)
		})
		r.shapes(climbing)
		c := r.dial().send(post(chatTarget, longStory))
		c.expect("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n" +
			"x-epitome-action: none\r\n" +
			"x-epitome-tokens: 10000>10000\r\nx-epitome-conversation: c1\r\n\r\n" + begin)
		close(more)
		c.expect(chunks("data: "+tooLong+"\n\n") + lastChunk)
		r.wantRequests(1)
	}
}

func TestOutputIsLoweredWhereThatIsTheCause(t *testing.T) {
	t.Parallel()
	r := on(t, answers(refused(400, `{"error":{"message":"This endpoint's maximum context length is 16000 tokens. `+
		`However, you requested about 19000 tokens (10000 of text input, 9000 in the output). Please reduce the `+
		`length of either one.","code":400}}`), welcome))
	r.shapes(climbing)
	resp, _ := r.ask(post(chatTarget, longStory))
	_, body := r.got()
	_, number, _ := strings.Cut(body, `"max_tokens":`)
	number, rest, _ := strings.Cut(number, ",")
	n, _ := strconv.Atoi(number)
	if resp.StatusCode != 200 || n < 5_000 || n > 6_000 || `{"model":"m","max_tokens":9000,`+rest != longStory {
		t.Errorf("%d, sent %s", resp.StatusCode, body)
	}
	if e := r.event(); e.Rescue.Stages != "output" || !e.Rescue.Rescued {
		t.Errorf("%+v", e.Rescue)
	}
}

// A body that epitome has changed, and that is refused for anything but its size, is sent as it came, once; where it came
// so, or does not fit, the refusal is the client's.
func TestRefusedChangeIsTakenBackOnce(t *testing.T) {
	t.Parallel()
	const orphan = `{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages ` +
		`responding to each 'tool_call_id'.","type":"invalid_request_error"}}`
	const unknown = `{"error":{"message":"The history was altered.","type":"invalid_request_error"}}`
	f := func(target, story, sent string, changes bool, window, want int) {
		t.Helper()
		r := on(t, answers(sent, welcome))
		r.shapes(func(a rewrite.Input) rewrite.Output {
			out := climbing(a)
			out.Report.Window = window
			if changes && (a.Rescue == nil || !a.Rescue.Whole) {
				out.Body, out.Changed = []byte(short), true
				out.Report.Causes = event.Codes{event.CodeRent}
			}
			return out
		})
		resp, _ := r.ask(post(target, story))
		e, all := r.event(), r.up.requests()
		if resp.StatusCode != want {
			t.Errorf("%s, %.40q: got %d, want %d", target, sent, resp.StatusCode, want)
		}
		isBack := all[len(all)-1].body == story && e.Action == "bypass" && e.Rescue.Stages == "whole" && e.Inner != "" &&
			slices.Equal(e.Causes, event.Codes{event.CodeBroken})
		if want == 200 && (len(all) != 2 || !isBack) || want != 200 && len(all) != 1 {
			t.Errorf("%s, %.40q: %d requests, %+v", target, sent, len(all), e)
		}
	}
	stories := map[string]string{chatTarget: longStory, messagesTarget: longStory, responsesTarget: longTask}
	for target, story := range stories {
		f(target, story, refused(400, orphan), true, 1_000_000, 200)
		f(target, story, refused(400, unknown), true, 1_000_000, 200)
		f(target, story, refused(422, unknown), true, 1_000_000, 200)
		f(target, story, refused(404, unknown), true, 1_000_000, 200)
		f(target, story, refused(400, unknown), true, 9_000, 400)
		f(target, story, refused(400, unknown), false, 1_000_000, 400)
		for _, status := range []int{401, 403, 429, 500, 529} {
			f(target, story, refused(status, unknown), true, 1_000_000, status)
		}
	}
}

// A stream that begins with the refusal of a broken pair is answered by the mended request, or by the first refusal if
// that is refused, too.
func TestBrokenPairsAreMendedWithinStreams(t *testing.T) {
	t.Parallel()
	const user = `[{"role":"user","content":"a"},`
	for target, of := range map[string]struct{ event, body string }{
		chatTarget: {`{"error":{"message":"messages with role 'tool' must be a response"}}`,
			`"messages":` + user + `{"role":"tool","content":"b","tool_call_id":"c"}]}`},
		messagesTarget: {`{"type":"error","error":{"type":"invalid_request_error","message":"unexpected tool_use_id"}}`,
			`"messages":` + user + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}]}`},
		responsesTarget: {`{"type":"error","message":"No tool call found for function call output with call_id c."}`,
			`"input":` + user + `{"type":"function_call_output","call_id":"c","output":"b"}]}`},
	} {
		broken := `{"model":"m","stream":true,` + of.body
		r := on(t, answers(streamed(named(of.event)), welcome, refused(400, of.event), refused(400, `{"error":"again"}`)))
		r.shapes(func(a rewrite.Input) rewrite.Output {
			out := climbing(a)
			out.Body, out.Changed = a.Body, false
			if a.Rescue != nil && a.Rescue.Pair {
				out.Body, out.Changed = []byte(short), true
			}
			return out
		})
		if _, body := r.ask(post(target, broken)); !strings.Contains(body, `"hi"`) {
			t.Errorf("%s: got %s", target, body)
		}
		r.wantRequests(2)
		r.wantBody(post(target, broken), of.event)
		r.wantRequests(4)
	}
}

func TestARescueThatMeetsAnotherErrorPassesThatOn(t *testing.T) {
	t.Parallel()
	r := on(t, answers(refused(400, tooLong), reply("429 Slow", "slow down", "Retry-After: 3")))
	r.shapes(climbing)
	if resp, body := r.ask(post(chatTarget, longStory)); resp.StatusCode != 429 || body != "slow down" ||
		resp.Header.Get("Retry-After") != "3" {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	r = on(t, func(c *call) {
		if c.body != longStory {
			c.hangUp()
			return
		}
		c.send(refused(400, tooLong))
	})
	r.shapes(climbing)
	if resp, body := r.ask(post(chatTarget, longStory)); resp.StatusCode != 400 || body != tooLong {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
}

// Where epitome has only added to a request, and nothing can be shortened, the request goes as it came; one whose
// addition stays is not sent again.
func TestRefusedAdditionIsTakenBack(t *testing.T) {
	t.Parallel()
	f := func(stays bool, want int, tries ...string) {
		t.Helper()
		r := on(t, answers(refused(400, tooLong), welcome))
		r.shapes(func(a rewrite.Input) rewrite.Output {
			size := event.Tokens{User: 6_900}
			out := rewrite.Output{Body: a.Body, Report: rewrite.Report{Action: event.ActionNone, Shaping: event.Shaping{
				Model: "m", Window: 8_000, Usable: 7_000, Items: 1, TokensBefore: size, TokensAfter: size}}}
			if stays || a.Rescue == nil || !a.Rescue.Whole {
				out.Report.Action, out.Report.TokensAfter.System, out.Changed = string(view.StepAdd), 200, true
				out.Body = []byte(`{"model":"m","messages":[{"role":"user","content":"with an index"}]}`)
			}
			return out
		})
		resp, _ := r.ask(post(chatTarget, longStory))
		if got := r.sentContents(); resp.StatusCode != want || !slices.Equal(got, tries) {
			t.Errorf("stays %t: got %d, and the upstream %q", stays, resp.StatusCode, got)
		}
	}
	f(false, 200, "with an index", "a very long story, to be told again")
	f(true, 400, "with an index")
}

// Where the provider leaves out what does not fit, nothing is held, and nothing is sent again.
func TestARequestThatTheProviderCutsIsNotRescued(t *testing.T) {
	t.Parallel()
	failing := named(stateOf("created", "first", ""), stateOf("failed", "first",
		`"error":{"code":"context_length_exceeded"},`))
	r := on(t, answers(streamed(failing)))
	r.shapes(func(a rewrite.Input) rewrite.Output {
		out := climbing(a)
		out.Report.Truncates = true
		return out
	})
	r.wantBody(post(responsesTarget, longTask), failing)
	r.wantRequests(1)
}
