package messages

import (
	"io"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/answer"
	"epitome/sse"
)

func (Dialect) Step(kind, data []byte) answer.Step { return format.StepOf(kind, data) }

func (Dialect) Holds() time.Duration { return 2 * time.Second }

var format = answer.Format{Step: stepOf, Add: addPiece, Usage: Dialect{}.Usage}

// stepOf returns what an event of a stream means for the answer.
func stepOf(name string, e gjson.Result) answer.Step {
	isFrame := false
	switch name {
	case "message_start", "ping", "content_block_stop":
		isFrame = true
	case "content_block_start":
		isFrame = e.Get("content_block.type").Str == "text" && e.Get("content_block.text").Str == ""
	case "content_block_delta":
		isFrame = e.Get("delta.type").Str == "text_delta" && e.Get("delta.text").Str == ""
	case "message_delta":
		if isFrame = e.Get("delta.stop_reason").Str == ""; !isFrame {
			return answer.EndStep
		}
	case "message_stop":
		return answer.EndStep
	}
	if isFrame {
		return answer.FrameStep
	}
	return answer.SaidStep
}

func (Dialect) ReadAnswer(body io.Reader) (prose.Answer, error) { return format.Read(body) }

// addPiece reads an answer, or an event of one.
func addPiece(a *answer.Answer, v gjson.Result) {
	for _, block := range append(v.Get("content").Array(), v.Get("content_block"), v.Get("delta")) {
		switch block.Get("type").Str {
		case "text", "text_delta":
			a.Said.WriteString(block.Get("text").Str)
		case "tool_use":
			a.Called = true
		}
	}
	switch v.Get("stop_reason").Str + v.Get("delta.stop_reason").Str {
	case "max_tokens", "model_context_window_exceeded":
		a.Cut = true
	case "refusal":
		a.Refused = true
	case "pause_turn": // it goes on with tools at the provider
		a.Called = true
	}
}

// Usage reads what an answer says of its tokens, and how many of them filled the window; 0 if it does not say. A stream
// says at its beginning what its request took, without which the rest says nothing, and at its end what the model
// wrote, without which it is cut.
func (Dialect) Usage(heard []byte) (u event.Usage, input int) {
	c := answer.NoCounts()
	hasStart, hasEnd, hasTurns := false, false, false
	read := func(v gjson.Result) {
		readCounts(&c, v)
		hasTurns = hasTurns || v.Get("iterations.1").Exists()
	}
	for f := range sse.Fields(heard) {
		if string(f.Name) != "data" || !gjson.ValidBytes(f.Value) {
			continue
		}
		switch e := gjson.ParseBytes(f.Value); e.Get("type").Str {
		case "message_start":
			hasStart = true
			read(e.Get("message.usage"))
		case "message_delta":
			hasEnd = hasEnd || e.Get("usage.output_tokens").Exists()
			read(e.Get("usage"))
		}
	}
	switch {
	case !hasStart && hasEnd:
		return u, 0
	case !hasStart:
		read(answer.LastUsage(heard, "input_tokens"))
	}
	// The API counts the input without what the cache had and took up, and what it took up for whatever time.
	c.Input = max(c.Input, 0) + max(c.Read, 0) + max(c.Write5m, 0)
	c.Write1h = min(c.Write1h, c.Write5m)
	c.Write5m -= max(c.Write1h, 0)
	u = c.Usage()
	u.Cut = u.Source != "" && hasStart && !hasEnd
	if hasTurns { // the input is that of several turns with tools at the provider, or of one behind its own compaction
		return u, 0
	}
	return u, c.Input
}

// readCounts sets the numbers that v has. What is said last is true, but the output only grows.
func readCounts(c *answer.Counts, v gjson.Result) {
	for path, to := range map[string]*int{
		"input_tokens": &c.Input, "cache_read_input_tokens": &c.Read, "cache_creation_input_tokens": &c.Write5m,
		"cache_creation.ephemeral_1h_input_tokens": &c.Write1h,
	} {
		if n := answer.Tokens(v.Get(path)); n != answer.Unknown {
			*to = n
		}
	}
	c.Output = max(c.Output, answer.Tokens(v.Get("output_tokens")))
}
