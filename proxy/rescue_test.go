package proxy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
)

const (
	longStory   = `{"model":"m","max_tokens":9000,"messages":[{"role":"user","content":"a very long story, to be told again"}]}`
	tooLong     = `{"error":{"message":"This model's maximum context length is 8000 tokens. However, your messages resulted in 10000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`
	unknownSize = `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","code":"context_length_exceeded"}}`
)

// climbing shapes a conversation of 10 000 tokens into what its stage makes of it: stage N has 10 000 / 2^N tokens.
func climbing(a rewrite.Input) rewrite.Output {
	r := rewrite.Report{Action: event.ActionNone, MaxOutput: 9_000, Shaping: event.Shaping{Model: "m", Conversation: "c1",
		Window: 1_000_000, Usable: 990_000, Items: 1, TokensBefore: event.Tokens{User: 10_000}}}
	r.TokensAfter = r.TokensBefore
	if a.Rescue == nil || a.Rescue.Whole {
		return rewrite.Output{Body: a.Body, Report: r}
	}
	tokens := 10_000
	enough := func() bool { return r.Stage >= a.Rescue.From && tokens <= a.Rescue.Most }
	for r.Stage = ladder.StageNone; r.Stage < ladder.StageBare && !enough(); tokens /= 2 {
		r.Stage++
	}
	r.Action, r.TokensAfter = string(ledger.StepCompact), event.Tokens{User: tokens}
	body := fmt.Sprintf(`{"model":"m","max_tokens":9000,"messages":[{"role":"user","content":"%s of at most %d"}]}`, r.Stage, a.Rescue.Most)
	return rewrite.Output{Body: []byte(body), Changed: true, Report: r}
}

// refused is a section that refuses a conversation with this body.
func refused(status int, body string) string {
	return fmt.Sprintf("-- POST %s --\nstatus %d No\nheader Content-Type: application/json\nbody %s\n", chatTarget, status, body)
}

const welcome = "-- POST " + chatTarget + " --\nstatus 200 OK\nheader Content-Type: application/json\nbody \"{\\\"choices\\\":[{\\\"message\\\":{\\\"content\\\":\\\"hi\\\"}}],\\\"usage\\\":{\\\"prompt_tokens\\\":4900}}\"\n"

// told are the contents of the messages that the upstream got.
func (r *rig) toldUpstream() (list []string) {
	for _, q := range r.upstream.Requests() {
		_, content, _ := strings.Cut(string(q.Body), `"content":"`)
		content, _, _ = strings.Cut(content, `"`)
		list = append(list, content)
	}
	return list
}

func TestRefusedRequestSucceedsInTheSameCall(t *testing.T) {
	r := on(t, refused(400, tooLong)+welcome)
	r.shapes(climbing)
	resp, body := r.dial().send(post(chatTarget, longStory)).answer("POST")
	if resp.StatusCode != 200 || !strings.Contains(body, `"hi"`) || resp.Header.Get("x-epitome-action") != "rescue" ||
		resp.Header.Get("x-epitome-tokens") != "10000>5000" {
		t.Errorf("got %d %v %s", resp.StatusCode, resp.Header, body)
	}
	if got := r.toldUpstream(); len(got) != 2 || got[1] != "clear of at most 6000" {
		t.Errorf("the upstream got %q", got)
	}
	e := r.event()
	if e.Action != "rescue" || e.Rescue.Kind != "input" || e.Rescue.Tries != 1 || e.Rescue.Stages != "clear" ||
		!e.Rescue.Rescued || e.Rescue.TokensBefore != 10_000 ||
		e.Rescue.TokensAfter != 5_000 || e.Rescue.WindowBefore != 1_000_000 || e.Rescue.WindowAfter != 8_000 {
		t.Errorf("%+v", e.Rescue)
	}
	if e.ShapeTime == 0 || e.Model != "m" || e.Window != 8_000 || e.TokensAfter.Total() != 5_000 { // as it is known now
		t.Errorf("the shaping is %+v", e.Shaping)
	}
	if e.WindowRefuted != 10_000 {
		t.Errorf("the event does not tell what was taken back: %d", e.WindowRefuted)
	}
	if want := "refused test m input 10000 of 8000\nanswered test m 5000 as 4900"; r.lessons.all() != want {
		t.Errorf("learned %q", r.lessons.all())
	}
	r.allGivenBack()
}

func TestTheFirstRefusalReachesTheClientIfNothingHelps(t *testing.T) {
	t.Parallel()
	last := strings.Replace(unknownSize, "Your input", "Even this input", 1)
	script := refused(400, unknownSize)
	for range 4 {
		script += refused(400, last)
	}
	r := on(t, script)
	r.shapes(climbing)
	r.dial().send(post(chatTarget, longStory)).expect("HTTP/1.1 400 No\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(unknownSize)) +
		"\r\nx-epitome-action: none\r\nx-epitome-tokens: 10000>10000\r\nx-epitome-conversation: c1\r\n\r\n" + unknownSize)
	want := []string{"a very long story, to be told again", "clear of at most 5000", "compact of at most 2500", "bare of at most 1250"}
	if got := r.toldUpstream(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the upstream got %q", got)
	}
	if e := r.event(); e.Rescue.Rescued || e.Rescue.Tries != 3 || e.Status != 400 {
		t.Errorf("%+v", e)
	}
	r.allGivenBack()
}

// What is no refusal of this kind goes through as it came, and the request is sent once.
func TestOtherRefusalsReachTheClientByteForByte(t *testing.T) {
	t.Parallel()
	for name, section := range map[string]string{
		"rate":        "status 429 Slow\nheader Retry-After: 3\nbody {\"error\":{\"message\":\"Rate limit reached for m: Limit 30000, Used 29000, Requested 2000. Please try again in 2s.\",\"code\":\"rate_limit_exceeded\"}}",
		"key":         "status 401 No\nbody {\"error\":{\"message\":\"Incorrect API key provided.\"}}",
		"parameter":   "status 400 Bad\nbody {\"error\":{\"message\":\"Unsupported parameter: 'max_tokens'.\",\"code\":\"unsupported_parameter\"}}",
		"overloaded":  "status 529 Over\nbody {\"type\":\"error\"}",
		"chunked":     "status 500 Bad\nchunk {\"error\":\nchunk {}}\ntrailer x-sum: 1\nend",
		"a page":      "status 502 Bad Gateway\nheader Content-Type: text/html\nbody <html><title>502 Bad Gateway</title></html>",
		"nothing":     "status 500 Bad\nno-length",
		"no JSON":     "status 400 Bad\nbody {\"error",
		"not encoded": "status 400 Bad\nheader Content-Encoding: gzip\nbody no gzip",
	} {
		t.Run(name, func(t *testing.T) {
			script := "-- POST " + chatTarget + " --\n" + section + "\n"
			plain := newRig(t, script)
			plain.shapes(climbing)
			want := plain.dial().send(post(chatTarget, longStory, "x-epitome-mode: off")).raw()
			r := on(t, script)
			r.shapes(climbing)
			got := r.dial().send(post(chatTarget, longStory)).raw()
			got = strings.Replace(got, "x-epitome-action: none\r\nx-epitome-tokens: 10000>10000\r\nx-epitome-conversation: c1\r\n", "", 1)
			if got != want || len(r.upstream.Requests()) != 1 || r.lessons.all() != "" {
				t.Errorf("%d requests, learned %q, got\n%q, want\n%q", len(r.upstream.Requests()), r.lessons.all(), got, want)
			}
		})
	}
}

func TestStreamsThatBeginWithARefusalAreRescued(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"error event":   "event " + tooLong,
		"behind a role": "event {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\nevent " + tooLong,
		"named":         "chunk \"event: error\\ndata: " + strings.ReplaceAll(tooLong, `"`, `\"`) + "\\n\\n\"",
		"in pieces": "chunk \"data: " + strings.ReplaceAll(tooLong[:60], `"`, `\"`) + "\"\nchunk \"" +
			strings.ReplaceAll(tooLong[60:], `"`, `\"`) + "\\n\\n\"",
		"without an answer": "status",
	} {
		t.Run(name, func(t *testing.T) {
			section := "-- POST " + chatTarget + " --\nstatus 200 OK\nheader Content-Type: text/event-stream\n" + refusal + "\nend\n"
			if refusal == "status" {
				section = refused(200, tooLong)
			}
			r := on(t, section+welcome)
			r.shapes(climbing)
			resp, body := r.dial().send(post(chatTarget, longStory)).answer("POST")
			if resp.StatusCode != 200 || !strings.Contains(body, `"hi"`) || len(r.upstream.Requests()) != 2 {
				t.Errorf("got %d %s after %d requests", resp.StatusCode, body, len(r.upstream.Requests()))
			}
		})
	}
}

// What was held back goes on in order, as it came, and nothing waits for what comes later.
func TestStreamsAreOnlyHeldUntilTheyBegin(t *testing.T) {
	t.Parallel()
	const role = `{"choices":[{"delta":{"role":"assistant"}}]}`
	for name, first := range map[string][]string{
		"content":  {"data: " + role, `data: {"choices":[{"delta":{"content":"a"}}]}`},
		"comment":  {": OPENROUTER PROCESSING"},
		"call":     {`data: {"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`},
		"thinking": {"data: " + role, `data: {"choices":[{"delta":{"content":"","reasoning_content":"hm"}}]}`},
		"other":    {`data: {"hello":1}`},
		"no error": {`data: {"error":"","choices":[{"delta":{"content":"a"}}]}`},
		"at once":  {`data: {"choices":[{"finish_reason":"stop","delta":{"reasoning_content":"hm"}}]}`},
		"failover": {"event: failover\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}"},
		"nothing":  {"data: " + role}, // for as long as a stream is held
	} {
		t.Run(name, func(t *testing.T) {
			script, want := "-- POST "+chatTarget+" --\nstatus 200 OK\nheader Content-Type: text/event-stream\n", ""
			chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
			for _, event := range first {
				script += fmt.Sprintf("chunk %q\n", event+"\n\n")
				want += chunk(event + "\n\n")
			}
			r := on(t, script+"await more\nevent "+tooLong+"\nend\n")
			r.shapes(climbing)
			c := r.dial().send(post(chatTarget, longStory))
			c.expect("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n" +
				"x-epitome-action: none\r\nx-epitome-tokens: 10000>10000\r\nx-epitome-conversation: c1\r\n\r\n" + want)
			r.upstream.Release("more")
			c.expect(chunk("data: "+tooLong+"\n\n") + "0\r\n\r\n")
			if n := len(r.upstream.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestOutputIsLoweredWhereThatIsTheCause(t *testing.T) {
	t.Parallel()
	const both = `{"error":{"message":"This endpoint's maximum context length is 16000 tokens. However, you requested about 19000 tokens (10000 of text input, 9000 in the output). Please reduce the length of either one.","code":400}}`
	r := on(t, refused(400, both)+welcome)
	r.shapes(climbing)
	resp, _ := r.dial().send(post(chatTarget, longStory)).answer("POST")
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

func TestRefusalsAreReadThroughTheirCoding(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(tooLong))
	_ = w.Close()
	r := on(t, fmt.Sprintf("-- POST %s --\nstatus 400 No\nheader Content-Encoding: gzip\nbody %q\n", chatTarget, packed.String())+welcome)
	r.shapes(climbing)
	if resp, body := r.dial().send(post(chatTarget, longStory)).answer("POST"); resp.StatusCode != 200 ||
		len(r.upstream.Requests()) != 2 {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
}

func TestRefusedStructureIsSentOnceAsItCame(t *testing.T) {
	t.Parallel()
	const broken = `{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.","type":"invalid_request_error"}}`
	r := on(t, refused(400, broken)+welcome)
	r.shapes(func(a rewrite.Input) rewrite.Output {
		s := climbing(a)
		if a.Rescue == nil {
			s.Body, s.Changed = []byte(short), true
			s.Report.Causes = event.Codes{event.CodeRent}
		}
		return s
	})
	resp, _ := r.dial().send(post(chatTarget, longStory)).answer("POST")
	_, body := r.got()
	if e := r.event(); resp.StatusCode != 200 || body != longStory || e.Action != "bypass" || e.Rescue.Stages != "whole" ||
		e.Inner == "" || !slices.Equal(e.Causes, event.Codes{event.CodeBroken}) {
		t.Errorf("got %d, sent %s, %+v", resp.StatusCode, body, e)
	}
	r = on(t, refused(400, broken)) // the client's own fault
	r.shapes(climbing)
	if resp, _ := r.dial().send(post(chatTarget, longStory)).answer("POST"); resp.StatusCode != 400 ||
		len(r.upstream.Requests()) != 1 {
		t.Errorf("got %d after %d requests", resp.StatusCode, len(r.upstream.Requests()))
	}
}

// misplaced is a refusal of what the model thought.
const misplaced = `{"type":"error","error":{"type":"invalid_request_error","message":"messages.3.content.0: Invalid ` +
	"`signature` in `thinking`" + ` block. The block is bound to a different conversation. The messages before the block differ."}}`

// Thinking that was refused goes, once; then the request may go on to be made shorter. Where there is none the refusal is
// the client's, to the byte.
func TestRefusedThinkingGoesOnce(t *testing.T) {
	t.Parallel()
	f := func(thinks bool, script, stages string, want ...string) {
		t.Helper()
		r := on(t, script)
		var asked []rewrite.Rescue
		r.shapes(func(a rewrite.Input) rewrite.Output {
			out := climbing(a)
			if a.Rescue == nil {
				return out
			}
			asked = append(asked, *a.Rescue)
			if a.Rescue.NoThinking && a.Rescue.Most == 0 {
				out.Report.Stage, out.Report.TokensAfter = ladder.StageNone, out.Report.TokensBefore
				out.Body, out.Changed = []byte(strings.Replace(longStory, "a very", "thoughtless", 1)), thinks
			}
			return out
		})
		raw := r.dial().send(post(chatTarget, longStory)).raw()
		if got := r.toldUpstream(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("thinks %v: the upstream got %q", thinks, got)
		}
		e := r.event()
		if e.Rescue.Kind != "thinking" || e.Rescue.Stages != stages || e.Rescue.Rescued == strings.Contains(raw, misplaced) {
			t.Errorf("thinks %v: %+v, %s", thinks, e.Rescue, raw)
		}
		if refused := slices.Contains(e.Causes, event.CodeThought); e.Rescue.Rescued && !refused {
			t.Errorf("thinks %v: the causes are %q", thinks, e.Causes)
		}
		for _, how := range asked {
			if !how.NoThinking {
				t.Errorf("thinks %v: thinking is sent again: %+v", thinks, how)
			}
		}
		r.allGivenBack()
	}
	const whole, bare = "a very long story, to be told again", "thoughtless long story, to be told again"
	no := refused(400, misplaced)
	f(true, no+welcome, "thinking", whole, bare)
	f(true, no+no, "thinking", whole, bare)
	f(true, no+refused(400, tooLong)+welcome, "thinking, clear", whole, bare, "clear of at most 6000")
	f(false, no, "", whole)
}

func TestARescueThatMeetsAnotherErrorPassesThatOn(t *testing.T) {
	t.Parallel()
	r := on(t, refused(400, tooLong)+"-- POST "+chatTarget+" --\nstatus 429 Slow\nheader Retry-After: 3\nbody slow down\n")
	r.shapes(climbing)
	resp, body := r.dial().send(post(chatTarget, longStory)).answer("POST")
	if resp.StatusCode != 429 || body != "slow down" || resp.Header.Get("Retry-After") != "3" {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	r = on(t, refused(400, tooLong)+"-- POST "+chatTarget+" --\nhangup\n")
	r.shapes(climbing)
	if resp, body := r.dial().send(post(chatTarget, longStory)).answer("POST"); resp.StatusCode != 400 || body != tooLong {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
}

// Where epitome has only added to a request, and nothing can be shortened, the request goes as it came; one whose
// addition stays is not sent again.
func TestRefusedAdditionIsTakenBack(t *testing.T) {
	t.Parallel()
	f := func(stays bool, want int, tries ...string) {
		t.Helper()
		r := on(t, refused(400, tooLong)+welcome)
		r.shapes(func(a rewrite.Input) rewrite.Output {
			size := event.Tokens{User: 6_900}
			out := rewrite.Output{Body: a.Body, Report: rewrite.Report{Action: event.ActionNone, Shaping: event.Shaping{
				Model: "m", Window: 8_000, Usable: 7_000, Items: 1, TokensBefore: size, TokensAfter: size}}}
			if stays || a.Rescue == nil || !a.Rescue.Whole {
				out.Report.Action, out.Report.TokensAfter.System, out.Changed = string(ledger.StepAdd), 200, true
				out.Body = []byte(`{"model":"m","messages":[{"role":"user","content":"with an index"}]}`)
			}
			return out
		})
		resp, _ := r.dial().send(post(chatTarget, longStory)).answer("POST")
		if got := r.toldUpstream(); resp.StatusCode != want || !slices.Equal(got, tries) {
			t.Errorf("stays %t: got %d, and the upstream %q", stays, resp.StatusCode, got)
		}
	}
	f(false, 200, "with an index", "a very long story, to be told again")
	f(true, 400, "with an index")
}
