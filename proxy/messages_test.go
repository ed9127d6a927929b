package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"epitome/event"
	"epitome/proxy/route"
	"epitome/rewrite"
)

// The wire with a second dialect: Anthropic Messages.

const (
	messagesTarget = "/v1/messages"
	longTale       = `{"model":"m","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":8000},"messages":[{"role":"user","content":"a very long story"}]}`
	longPrompt     = `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 10000 tokens > 8000 maximum"},"request_id":"req_1"}`
)

// frames are the events of a stream, named by what they are.
func frames(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		_, kind, _ := strings.Cut(e, `"type":"`)
		kind, _, _ = strings.Cut(kind, `"`)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, e)
	}
	return b.String()
}

// streamed is a section that answers a request of Messages with a stream.
func streamed(stream string) string {
	return fmt.Sprintf("-- POST %s --\nstatus 200 OK\nheader Content-Type: text/event-stream\nchunk %q\nend\n", messagesTarget, stream)
}

func startOf(id string) string {
	return `{"type":"message_start","message":{"id":"` + id + `","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":4000,"cache_creation_input_tokens":800}}}`
}

const (
	pinged     = `{"type":"ping"}`
	blockBegun = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	saidHi     = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`
	ended      = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`
	stopped    = `{"type":"message_stop"}`
)

func TestMessagesThatAreRefusedSucceedInTheSameCall(t *testing.T) {
	t.Parallel()
	welcome := frames(startOf("second"), pinged, blockBegun, saidHi, ended, stopped)
	full := strings.Replace(ended, "end_turn", "model_context_window_exceeded", 1)
	for name, refusal := range map[string]string{
		"at once":      fmt.Sprintf("-- POST %s --\nstatus 400 No\nbody %s\n", messagesTarget, longPrompt),
		"by bytes":     fmt.Sprintf("-- POST %s --\nstatus 413 No\nbody {\"type\":\"error\",\"error\":{\"type\":\"request_too_large\",\"message\":\"Request exceeds the maximum size\"}}\n", messagesTarget),
		"in a stream":  streamed(frames(startOf("first"), pinged, longPrompt)),
		"behind begun": streamed(frames(startOf("first"), blockBegun, longPrompt)),
		"by its end":   streamed(frames(startOf("first"), full, stopped)),
		"by an answer": fmt.Sprintf("-- POST %s --\nstatus 200 OK\nbody %q\n", messagesTarget,
			`{"type":"message","content":[],"stop_reason":"model_context_window_exceeded","usage":{"input_tokens":9000,"output_tokens":2}}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := on(t, refusal+streamed(welcome))
			r.shapes(climbing)
			resp, body := r.dial().send(post(messagesTarget, longTale)).answer("POST")
			if resp.StatusCode != 200 || body != welcome || resp.Header.Get("x-epitome-action") != "rescue" {
				t.Errorf("got %d %v %s", resp.StatusCode, resp.Header, body)
			}
			if e := r.event(); e.Rescue.Tries != 1 || !e.Rescue.Rescued || e.TokensUsed != 4_810 {
				t.Errorf("%+v, used %d", e.Rescue, e.TokensUsed)
			}
		})
	}
}

func TestOtherAnswersOfMessagesPassAsTheyCame(t *testing.T) {
	t.Parallel()
	for name, section := range map[string]string{
		"overloaded":    streamed(frames(startOf("a"), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)),
		"nothing said":  streamed(frames(startOf("a"), ended, stopped)),
		"a late error":  streamed(frames(startOf("a"), blockBegun, saidHi, longPrompt)),
		"more than can": fmt.Sprintf("-- POST %s --\nstatus 400 No\nbody %s\n", messagesTarget, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 9000 > 4096, which is the maximum allowed number of output tokens for m"}}`),
		"its structure": fmt.Sprintf("-- POST %s --\nstatus 400 No\nbody %s\n", messagesTarget, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: tool_use ids must be unique"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			plain := newRig(t, section)
			want := plain.dial().send(post(messagesTarget, longTale, "x-epitome-mode: off")).raw()
			r := on(t, section)
			r.shapes(climbing)
			got := r.dial().send(post(messagesTarget, longTale)).raw()
			got = strings.Replace(got, "x-epitome-action: none\r\nx-epitome-tokens: 10000>10000\r\nx-epitome-conversation: c1\r\n", "", 1)
			if got != want || len(r.upstream.Requests()) != 1 {
				t.Errorf("%d requests, got\n%q, want\n%q", len(r.upstream.Requests()), got, want)
			}
		})
	}
}

func TestCapAndBudgetOfMessagesAreLoweredTogether(t *testing.T) {
	t.Parallel()
	const both = "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 10000 + 9000 > 16000, decrease input length or `max_tokens` and try again\"}}"
	r := on(t, fmt.Sprintf("-- POST %s --\nstatus 400 No\nbody %s\n", messagesTarget, both)+streamed(frames(startOf("a"), saidHi, ended, stopped)))
	r.shapes(climbing)
	resp, _ := r.dial().send(post(messagesTarget, longTale)).answer("POST")
	_, body := r.got()
	want := strings.Replace(strings.Replace(longTale, "9000", "5936", 1), "8000", "4936", 1)
	if e := r.event(); resp.StatusCode != 200 || body != want || e.Rescue.Stages != "output" {
		t.Errorf("%d, sent %s, %+v", resp.StatusCode, body, e.Rescue)
	}
}

// Of a long stream only the end is heard: what it says of the cache must be there, or nothing is learned from it.
func TestUsageOfLongMessagesIsTheSumOrNothing(t *testing.T) {
	t.Parallel()
	said := strings.Repeat(frames(saidHi), 200)
	f := func(end string, want int) {
		t.Helper()
		r := on(t, streamed(frames(startOf("a"), blockBegun)+said+frames(end, stopped)))
		r.shapes(climbing)
		r.dial().send(post(messagesTarget, longTale)).answer("POST")
		if e := r.event(); e.TokensUsed != want {
			t.Errorf("%s: used %d, want %d", end, e.TokensUsed, want)
		}
	}
	f(ended, 0)
	f(strings.Replace(ended, `"usage":{`, `"usage":{"input_tokens":10,`, 1), 0)
	f(strings.Replace(ended, `"usage":{`, `"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":9000,`, 1), 9_010)
}

// What a request took is told before the answer: whoever leaves within it is told of what they pay for.
func TestCutAnswersHaveWhatTheyToldAtTheirBeginning(t *testing.T) {
	t.Parallel()
	start := strings.Replace(startOf("a"), `"input_tokens"`, `"output_tokens":1,"input_tokens"`, 1)
	cut := event.Usage{Source: event.UsageProvider, Input: 4_810, Read: 4_000, Write5m: 800, Output: 1, Cut: true}
	whole := cut
	whole.Output, whole.Cut = 3, false
	f := func(events, rest, leaves string, fault event.Fault, want event.Usage) {
		t.Helper()
		section := fmt.Sprintf("-- POST %s --\nstatus 200 OK\nheader Content-Type: text/event-stream\nchunk %q\n%s\n",
			messagesTarget, events, rest)
		r := on(t, section)
		r.shapes(climbing)
		c := r.dial().send(post(messagesTarget, longTale))
		if leaves != "" {
			resp, err := http.ReadResponse(c.br, nil)
			if err == nil { // only what has come can have been heard
				_, err = io.ReadFull(resp.Body, make([]byte, len(events)))
			}
			if err != nil {
				t.Fatal(err)
			}
			c.vanish(leaves)
		}
		e := r.event()
		learns := e.TokensUsed != 0
		if e.Fault != fault || e.Usage != want || e.Status != 200 || learns != (fault == event.None) {
			t.Errorf("%q of %d bytes, then %s %s: %q, %+v, used %d", e.Fault, len(events), rest, leaves, e.Err, e.Usage, e.TokensUsed)
		}
	}
	long := frames(start, blockBegun) + strings.Repeat(frames(saidHi), 500)
	f(frames(start, blockBegun, saidHi), "hangup", "", event.Truncated, cut)
	f(long, "hangup", "", event.Truncated, cut)
	f(long, "await-close", "FIN", event.ClientGone, cut)
	f(long, "await-close", "RST", event.ClientGone, cut)
	f(frames(start, blockBegun, saidHi, ended, stopped), "end", "", event.None, whole)
	f(frames(start, blockBegun, saidHi, ended, stopped), "await-close", "FIN", event.ClientGone, whole)
	f(frames(start, blockBegun, saidHi, ended), "hangup", "", event.Truncated, whole)
	counted := event.Usage{Source: event.UsageCounted, Input: 10_000, CacheUnknown: true, Cut: true}
	f(frames(startOf("a"), blockBegun, saidHi), "hangup", "", event.Truncated, counted) // it tells no output yet
}

func TestMessagesWithoutAVersionGoWhereTheyAreMeant(t *testing.T) {
	t.Parallel()
	f := func(base, request, want string, headers ...string) {
		t.Helper()
		method, target, _ := strings.Cut(request, " ")
		r := newRig(t, "-- * /* --\nstatus 200 OK\nbody a\n", func(s *Settings) {
			s.Upstreams["test"] = route.UpstreamConfig{URL: s.Upstreams["test"].URL + base}
		})
		ask := strings.Replace(post(target, "{}", headers...), "POST", method, 1)
		r.dial().send(ask).answer(method)
		if head, _ := r.got(); !strings.HasPrefix(head, method+" "+want+" HTTP/1.1\r\n") {
			t.Errorf("with base %q %s becomes %.60q, want %s", base, request, head, want)
		}
	}
	const version = "Anthropic-Version: 2023-06-01"
	f("", "POST /messages", "/v1/messages", version)
	f("", "POST /messages?beta=true", "/v1/messages?beta=true", version)
	f("", "POST /messages/count_tokens", "/v1/messages/count_tokens", version)
	f("", "POST /u/test/messages", "/v1/messages", version)
	f("/api/anthropic", "POST /messages", "/api/anthropic/v1/messages", version)
	f("/v1", "POST /messages", "/v1/messages", version)
	f("", "POST /v1/messages", "/v1/messages", version)
	f("", "POST /messages/batches", "/messages/batches", version)
	f("", "PUT /messages", "/messages", version)
	f("", "POST /messages", "/messages")
	f("", "POST /chat/completions", "/chat/completions", version)
}

// A conversation that is only counted goes on as it was decided before. Nothing is told of that, and a refusal is the
// answer.
func TestCountsOfMessagesRepeatWhatWasDecided(t *testing.T) {
	t.Parallel()
	const target = messagesTarget + "/count_tokens"
	r := on(t, fmt.Sprintf("-- POST %s --\nstatus 400 No\nbody %s\n", target, longPrompt))
	r.shapes(func(a rewrite.Input) rewrite.Output {
		out := climbing(a)
		if a.Replay {
			out.Body, out.Changed = []byte(short), true
		}
		return out
	})
	resp, body := r.dial().send(post(target, longTale)).answer("POST")
	_, sent := r.got()
	if resp.StatusCode != 400 || body != longPrompt || sent != short || resp.Header.Get("x-epitome-action") != "none" ||
		resp.Header.Get("x-epitome-tokens") != "" {
		t.Errorf("got %d %v %s, sent %s", resp.StatusCode, resp.Header, body, sent)
	}
	if e := r.event(); e.Model != "" || e.TokensBefore.Total() != 0 || e.Rescue.Kind != "" || r.lessons.all() != "" {
		t.Errorf("told %+v, learned %q", e, r.lessons.all())
	}
	r = on(t, fmt.Sprintf("-- POST %s --\nstatus 200 OK\nbody a\n", target), func(s *Settings) { s.Mode = event.ModeObserve })
	r.shapes(func(a rewrite.Input) rewrite.Output {
		t.Error("a count is observed")
		return climbing(a)
	})
	r.observe.Store(r.shape.Load())
	r.dial().send(post(target, longTale)).answer("POST")
	if _, sent = r.got(); sent != longTale {
		t.Errorf("observed, it is sent as %s", sent)
	}
}
