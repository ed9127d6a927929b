package proxy

import (
	"fmt"
	"strings"
	"testing"

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
}
