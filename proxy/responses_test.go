package proxy

import (
	"fmt"
	"strings"
	"testing"

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
