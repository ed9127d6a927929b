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
		out.Report.Truncates = true
		return out
	})
	_, body := r.dial().send(post(responsesTarget, longTask)).answer("POST")
	if body != failing || len(r.upstream.Requests()) != 1 {
		t.Errorf("%d requests, got %.300s", len(r.upstream.Requests()), body)
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
