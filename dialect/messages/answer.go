package messages

import (
	"io"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/dialect/jsonspan"
	"epitome/event"
)

func (Dialect) Step(kind, data []byte) answer.Step { return format.StepOf(kind, data) }

var format = answer.Format{Step: stepOf, Add: addPiece, Usage: Dialect{}.Usage}

// stepOf returns the meaning of an event for its answer. A text block that is still empty is a part of the frame.
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

func (Dialect) ReadAnswer(body io.Reader) (answer.Answer, error) { return format.Read(body) }

// addPiece adds an answer (a list of blocks), or an event of a stream (a block or a piece), to a. Thinking is not read.
func addPiece(a *answer.Partial, v gjson.Result) {
	for _, block := range append(v.Get("content").Array(), v.Get("content_block"), v.Get("delta")) {
		switch block.Get("type").Str {
		case "text", "text_delta":
			a.Said.WriteString(block.Get("text").Str)
		case "tool_use":
			a.Called = true
		}
	}
	switch v.Get("stop_reason").Str + v.Get("delta.stop_reason").Str { // of a whole answer, or of a stream: one is empty
	case "max_tokens", "model_context_window_exceeded":
		a.Cut = true
	case "refusal":
		a.Refused = true
	case "pause_turn": // the provider has paused in a series of calls of its own tools: the answer is not finished
		a.Called = true
	}
}

// Usage reads the token counts of an answer, and how many tokens of the model's window the request filled; 0 if that is
// not known. text is all of an answer, whole or streamed, or its beginning and end. A stream has the counts of its
// request at the start: without these nothing is known. It has the final output at its end; without it, u.Cut is set.
func (Dialect) Usage(text []byte) (u event.Usage, input int) {
	u.CacheUnknown = true
	hasStart, hasEnd, hasTurns, output := false, false, false, answer.Unknown
	read := func(v gjson.Result) { // later counts replace earlier ones, and the output only grows
		for path, count := range map[string]*int{
			"input_tokens": &u.Input, "cache_read_input_tokens": &u.Read, "cache_creation_input_tokens": &u.Write5m,
			"cache_creation.ephemeral_1h_input_tokens": &u.Write1h,
		} {
			if n := answer.Tokens(v.Get(path)); n >= 0 {
				*count = n
				u.CacheUnknown = u.CacheUnknown && path == "input_tokens"
			}
		}
		output = max(output, answer.Tokens(v.Get("output_tokens")))
		hasTurns = hasTurns || v.Get("iterations.1").Exists() // the model was called more than once
	}
	for f := range answer.Fields(text) {
		if string(f.Name) != "data" || !jsonspan.Valid(f.Value) {
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
		return event.Usage{}, 0
	case !hasStart: // the answer is not a stream
		read(answer.LastUsage(text, "input_tokens"))
	}
	// The API's input is without the tokens that the cache had or took up; its writes, in Write5m, are for any time.
	u.Input += u.Read + u.Write5m
	u.Write1h = min(u.Write1h, u.Write5m)
	u.Write5m -= u.Write1h
	if input = u.Input; hasTurns { // for the provider's own tools or a compaction: no window ever held all of the sum
		input = 0
	}
	u = answer.Complete(u, output, answer.Unknown)
	u.Uncached = u.Source != "" && !u.CacheUnknown && u.Read+u.Write5m+u.Write1h == 0
	u.Cut = u.Source != "" && hasStart && !hasEnd
	return u, input
}
