package proxy

import (
	"fmt"
	"strings"
	"testing"

	"epitome/event"
	"epitome/proxy/wire/wiretest"
	"epitome/rewrite"
)

// The wire with a third dialect: OpenAI Responses.

const (
	responsesTarget = "/v1/responses"
	longTask        = `{"model":"m","max_output_tokens":9000,"input":[{"role":"user","content":"a very long story"}]}`
	longInput       = `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`
)

// answers is a section that answers a request of Responses with a stream.
func answers(stream string) string {
	return fmt.Sprintf("-- POST %s --\nstatus 200 OK\nheader Content-Type: text/event-stream\nchunk %q\nend\n", responsesTarget, stream)
}

// refuses is one that answers it with an error.
func refuses(status int, body string) string {
	return fmt.Sprintf("-- POST %s --\nstatus %d No\nheader Content-Type: application/json\nbody %s\n", responsesTarget, status, body)
}

// taken is an event with a response as it stands: its settings are told again in each.
func taken(kind, id, more string) string {
	return fmt.Sprintf(`{"type":"response.%s","sequence_number":0,"response":{"id":%q,"object":"response",%s"instructions":%q,"output":[]}}`,
		kind, id, more, strings.Repeat("You are a coding agent. ", 1_500))
}

const (
	itemAdded  = `{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg","type":"message","status":"in_progress","role":"assistant","content":[]}}`
	saidHello  = `{"type":"response.output_text.delta","sequence_number":3,"delta":"hello"}`
	wentWell   = `{"type":"response.completed","sequence_number":4,"response":{"id":"second","status":"completed","output":[],"usage":{"input_tokens":4810,"input_tokens_details":{"cached_tokens":4000},"output_tokens":3},"metadata":{}}}`
	tooMuch    = `"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."},`
	cutShort   = `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":9990,"output_tokens":0},`
	capReached = `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":9990,"output_tokens":9000},`
	errorTold  = `{"type":"error","sequence_number":2,"code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input"}`
)

func TestResponsesThatAreRefusedSucceedInTheSameCall(t *testing.T) {
	t.Parallel()
	welcome := frames(taken("created", "second", ""), taken("in_progress", "second", ""), itemAdded, saidHello, wentWell)
	begun := []string{taken("created", "first", ""), taken("in_progress", "first", "")}
	behind := func(events ...string) string { return answers(frames(append(begun[:2:2], events...)...)) }
	for name, refusal := range map[string]string{
		"at once":           refuses(400, longInput),
		"by a local server": refuses(400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":10000,"n_ctx":8192}}`),
		"by failing":        behind(taken("failed", "first", tooMuch)),
		"without words":     behind(taken("failed", "first", strings.Replace(tooMuch, "Your input exceeds the context window of this model.", "", 1))),
		"by an error":       behind(errorTold),
		"by another":        answers("event: error\ndata: " + longInput + "\n\n"),
		"behind a message":  behind(itemAdded, taken("failed", "first", tooMuch)),
		"by its end":        behind(taken("incomplete", "first", cutShort)),
		"by an empty one":   behind(itemAdded, taken("incomplete", "first", cutShort)),
		"behind others":     behind(`{"type":"codex.rate_limits","rate_limits":{}}`, `{"type":"keepalive"}`, taken("failed", "first", tooMuch)),
		"by an answer":      refuses(200, `{"object":"response",`+cutShort+`"output":[]}`),
		"by a failed one":   refuses(200, `{"object":"response","status":"failed",`+tooMuch+`"output":[]}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := on(t, refusal+answers(welcome))
			r.shapes(climbing)
			resp, body := r.dial().send(post(responsesTarget, longTask)).answer("POST")
			if resp.StatusCode != 200 || body != welcome || resp.Header.Get("x-epitome-action") != "rescue" {
				t.Errorf("got %d %v %.300s", resp.StatusCode, resp.Header, body)
			}
			if e := r.event(); e.Rescue.Tries != 1 || !e.Rescue.Rescued || e.TokensUsed != 4_810 {
				t.Errorf("%+v, used %d", e.Rescue, e.TokensUsed)
			}
		})
	}
}

func TestOtherAnswersOfResponsesPassAsTheyCame(t *testing.T) {
	t.Parallel()
	for name, section := range map[string]string{
		"another failure": answers(frames(taken("created", "a", ""), taken("failed", "a", `"error":{"code":"server_error","message":"Try again."},`))),
		"busy":            answers(frames(taken("created", "a", ""), `{"type":"error","code":"rate_limit_exceeded","message":"Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000."}`)),
		"nothing said":    answers(frames(taken("created", "a", ""), wentWell)),
		"a late failure":  answers(frames(taken("created", "a", ""), itemAdded, saidHello, taken("failed", "a", tooMuch))),
		"all was thought": answers(frames(taken("created", "a", ""), taken("incomplete", "a", capReached))),
		"a call":          answers(frames(taken("created", "a", ""), `{"type":"response.output_item.added","item":{"type":"function_call"}}`, taken("failed", "a", tooMuch))),
		"more than can":   refuses(400, `{"error":{"message":"Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 4096, but got 9000 instead.","param":"max_output_tokens"}}`),
		"its structure":   refuses(400, `{"error":{"message":"No tool output found for function call call_1.","type":"invalid_request_error","param":"input","code":null}}`),
		"what is not":     refuses(404, `{"error":{"message":"Item with id 'rs_1' not found. Items are not persisted when store is set to false."}}`),
		"a broken end":    answers("event: response.created\ndata: {\"type\":\"response.created\",\"respon"),
	} {
		t.Run(name, func(t *testing.T) {
			plain := newRig(t, section)
			want := plain.dial().send(post(responsesTarget, longTask, "x-epitome-mode: off")).raw()
			r := on(t, section)
			r.shapes(climbing)
			got := r.dial().send(post(responsesTarget, longTask)).raw()
			got = strings.Replace(got, "x-epitome-action: none\r\nx-epitome-tokens: 10000>10000\r\nx-epitome-conversation: c1\r\n", "", 1)
			if got != want || len(r.upstream.Requests()) != 1 {
				t.Errorf("%d requests, got\n%.900q, want\n%.900q", len(r.upstream.Requests()), got, want)
			}
		})
	}
}

// Of a long stream only the end is heard, and usage stands there, however much stands before it.
func TestUsageOfLongResponsesIsHeard(t *testing.T) {
	t.Parallel()
	end := taken("completed", "a", "")
	end = strings.TrimSuffix(end, "}}") + `,"usage":{"input_tokens":9500,"input_tokens_details":{"cached_tokens":9000},"output_tokens":3},"user":null,"metadata":{}}}`
	f := func(end string, want int) {
		t.Helper()
		said := strings.Repeat(frames(saidHello), 200)
		r := on(t, answers(frames(taken("created", "a", ""), itemAdded)+said+frames(end)))
		r.shapes(func(a rewrite.Input) rewrite.Output {
			out := climbing(a)
			out.Report.Counted = 10_000
			return out
		})
		r.dial().send(post(responsesTarget, longTask)).answer("POST")
		e, taught := r.event(), fmt.Sprintf("learn test m %d of 10000", want)
		if e.TokensUsed != want || strings.Contains(r.lessons.all(), taught) != (want > 0) {
			t.Errorf("used %d, want %d; learned %q", e.TokensUsed, want, r.lessons.all())
		}
	}
	f(end, 9_500)
	f(strings.Replace(end, "completed", "incomplete", 1), 9_500)
	f(taken("completed", "a", `"usage":null,`), 0)
}

// A second answer begins only where nothing of the first went out: clients take one response for each call.
func TestOneResponseIsCreatedForEachCall(t *testing.T) {
	t.Parallel()
	failing := answers(frames(taken("created", "first", ""), taken("failed", "first", tooMuch)))
	r := on(t, failing+failing+failing+answers(frames(taken("created", "last", ""), itemAdded, saidHello, wentWell)))
	r.shapes(climbing)
	_, body := r.dial().send(post(responsesTarget, longTask)).answer("POST")
	if n := strings.Count(body, "event: response.created"); n != 1 || !strings.Contains(body, `"last"`) || len(r.upstream.Requests()) != 4 {
		t.Errorf("%d begin after %d requests: %.300s", n, len(r.upstream.Requests()), body)
	}
}

// If nothing helps, the client gets the first refusal, with the frames before it.
func TestTheFirstRefusalOfResponsesIsTheAnswer(t *testing.T) {
	t.Parallel()
	first := frames(taken("created", "first", ""), taken("in_progress", "first", ""), taken("failed", "first", tooMuch))
	r := on(t, answers(first)+strings.Replace(answers(frames(taken("failed", "later", tooMuch))), "-- \n", "-- \nrepeat\n", 1),
		func(s *Settings) { s.RescueTries = 1 })
	r.shapes(climbing)
	resp, body := r.dial().send(post(responsesTarget, longTask)).answer("POST")
	if resp.StatusCode != 200 || body != first {
		t.Errorf("got %d %.300s", resp.StatusCode, body)
	}
	if e := r.event(); e.Rescue.Rescued || e.Rescue.Tries != 1 {
		t.Errorf("%+v", e.Rescue)
	}
}

func TestOutputOfResponsesIsLoweredWhereThatIsTheCause(t *testing.T) {
	t.Parallel()
	const both = `{"error":{"message":"This model's maximum context length is 16000 tokens. However, you requested 9000 output tokens and your prompt contains 10000 input tokens, for a total of 19000 tokens. Please reduce the length of the input prompt or the number of requested output tokens.","type":"BadRequestError","param":"max_output_tokens","code":400}}`
	r := on(t, refuses(400, both)+answers(frames(taken("created", "a", ""), itemAdded, saidHello, wentWell)))
	r.shapes(climbing)
	resp, _ := r.dial().send(post(responsesTarget, longTask)).answer("POST")
	_, body := r.got()
	want := strings.Replace(longTask, "9000", "5936", 1)
	if e := r.event(); resp.StatusCode != 200 || body != want || e.Rescue.Stages != "output" {
		t.Errorf("%d, sent %s, %+v", resp.StatusCode, body, e.Rescue)
	}
}

// Where the provider leaves out what does not fit, nothing is held, and nothing is sent again.
func TestWhatTheProviderCutsByItselfIsNotRescued(t *testing.T) {
	t.Parallel()
	failing := frames(taken("created", "first", ""), taken("failed", "first", tooMuch))
	r := on(t, answers(failing))
	r.shapes(func(a rewrite.Input) rewrite.Output {
		out := climbing(a)
		out.Report.Drops = true
		return out
	})
	_, body := r.dial().send(post(responsesTarget, longTask)).answer("POST")
	if body != failing || len(r.upstream.Requests()) != 1 {
		t.Errorf("%d requests, got %.300s", len(r.upstream.Requests()), body)
	}
}

// What is asked beside a conversation passes as it came, but for the conversation whose size is asked, or which the
// provider is to compact: those go as they were decided before. Nothing is rescued.
func TestRequestsBesideResponses(t *testing.T) {
	t.Parallel()
	replays := func(a rewrite.Input) rewrite.Output {
		out := climbing(a)
		if a.Replay {
			out.Body, out.Changed = []byte(short), true
			out.Report.After.User = 400
		}
		return out
	}
	f := func(method, path, body, want string, told int) {
		t.Helper()
		r := on(t, fmt.Sprintf("-- %s %s --\nstatus 400 No\nheader Content-Type: application/json\nbody %s\n", method, path, longInput))
		r.shapes(replays)
		ask := strings.Replace(post(path, body), "POST", method, 1)
		resp, got := r.dial().send(ask).answer(method)
		_, sent := r.got()
		if resp.StatusCode != 400 || got != longInput || sent != want || len(r.upstream.Requests()) != 1 {
			t.Errorf("%s %s: got %d %s, sent %s", method, path, resp.StatusCode, got, sent)
		}
		if e := r.event(); e.TokensAfter.Total() != told || e.Rescue.Kind != "" || r.lessons.all() != "" {
			t.Errorf("%s %s: told %+v, learned %q", method, path, e, r.lessons.all())
		}
	}
	f("POST", "/v1/responses/input_tokens", longTask, short, 0)
	f("POST", "/v1/responses/compact", longTask, short, 400)
	f("POST", "/v1/responses/resp_1/cancel", longTask, longTask, 0)
	f("DELETE", "/v1/responses/resp_1", "", "", 0)
	f("GET", "/v1/responses/resp_1", "", "", 0)
	r := on(t, "-- POST * --\nrepeat\nstatus 200 OK\nbody a\n", func(s *Settings) { s.Mode = event.ModeObserve })
	r.shapes(replays)
	r.observe.Store(r.shape.Load())
	for _, path := range []string{"/v1/responses/input_tokens", "/v1/responses/compact"} {
		r.dial().send(post(path, longTask)).answer("POST")
		if _, sent := r.got(); sent != longTask {
			t.Errorf("observed, to %s is sent %s", path, sent)
		}
	}
}

// Codex compresses what it sends. What is not rewritten goes on as it came, and what is refused is made shorter.
func TestCompressedResponsesAreShaped(t *testing.T) {
	t.Parallel()
	for _, c := range wiretest.Codings {
		packed := string(wiretest.Encode(t, []byte(longTask), c.Encode))
		r := on(t, refuses(400, longInput)+answers(frames(itemAdded, saidHello, wentWell)))
		r.shapes(climbing)
		resp, _ := r.dial().send(post(responsesTarget, packed, "Content-Encoding: "+c.Name)).answer("POST")
		all := r.upstream.Requests()
		if resp.StatusCode != 200 || len(all) != 2 || string(all[0].Body) != packed ||
			!strings.HasPrefix(string(all[1].Body), `{"model"`) {
			t.Errorf("%s: %d after %d requests", c.Name, resp.StatusCode, len(all))
		}
	}
}

// What the client is told of a stream comes at once when it has begun, however it goes on.
func TestHalfResponsesStayHalf(t *testing.T) {
	t.Parallel()
	begun := frames(taken("created", "a", ""), itemAdded, saidHello)
	for name, rest := range map[string]string{
		"broken off":   "hangup\n",
		"out of order": fmt.Sprintf("chunk %q\nhangup\n", frames(itemAdded, taken("created", "b", ""), `{"type":"response.output_text.delta"`)),
		"megabytes":    fmt.Sprintf("chunk %q\nhangup\n", frames(`{"type":"response.function_call_arguments.done","arguments":"`+strings.Repeat("a", 3<<20)+`"}`)),
	} {
		t.Run(name, func(t *testing.T) {
			section := fmt.Sprintf("-- POST %s --\nstatus 200 OK\nheader Content-Type: text/event-stream\nchunk %q\n%s", responsesTarget, begun, rest)
			plain := newRig(t, section)
			want := plain.dial().send(post(responsesTarget, longTask, "x-epitome-mode: off")).raw()
			r := on(t, section)
			r.shapes(climbing)
			got := r.dial().send(post(responsesTarget, longTask)).raw()
			got = strings.Replace(got, "x-epitome-action: none\r\nx-epitome-tokens: 10000>10000\r\nx-epitome-conversation: c1\r\n", "", 1)
			if got != want || !strings.Contains(got, "hello") || strings.HasSuffix(got, "0\r\n\r\n") {
				t.Errorf("got %d bytes, want %d", len(got), len(want))
			}
			if e := r.event(); e.Fault != event.Truncated || e.TokensUsed != 0 {
				t.Errorf("%+v", e)
			}
		})
	}
}

// A client that leaves while the beginning of its answer is held ends its call.
func TestClientsThatLeaveEndTheirResponse(t *testing.T) {
	r := on(t, fmt.Sprintf("-- POST %s --\nstatus 200 OK\nheader Content-Type: text/event-stream\nchunk %q\nawait-close\n",
		responsesTarget, frames(taken("created", "a", ""))))
	r.shapes(climbing)
	c := r.dial().send(post(responsesTarget, longTask))
	r.await("waiting 1 close")
	c.vanish("FIN")
	r.await("gone 1")
	if e := r.event(); e.Fault != event.ClientGone {
		t.Errorf("%+v", e)
	}
}
