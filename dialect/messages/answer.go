package messages

import (
	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/dialect/jsonspan"
	"epitome/event"
)

// Step returns the meaning of an event for its answer. A text block that is still empty is a part of the frame.
func (Dialect) Step(name string, e gjson.Result) answer.Step {
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

// Add adds an answer (a list of blocks), or an event of a stream (a block or a piece), to a. Thinking is not read.
func (Dialect) Add(a *answer.Partial, v gjson.Result) {
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
// The counts have those of compactions that the provider has made within the turn.
func (Dialect) Usage(text []byte) (u event.Usage, input int) {
	u.CacheUnknown = true
	hasStart, hasEnd, output := false, false, answer.Unknown
	var calls []gjson.Result       // of the model
	read := func(v gjson.Result) { // later counts replace earlier ones, and the output only grows
		readCounts(v, &u)
		output = max(output, answer.Tokens(v.Get("output_tokens")))
		if list := v.Get("iterations"); list.IsArray() {
			calls = list.Array()
		}
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
	summaries := compactions(calls, u, output)
	hasSummary := summaries != event.Usage{}
	// The API's input is without the tokens that the cache had or took up; its writes, in Write5m, are for any time.
	input = u.Input + u.Read + u.Write5m
	if len(calls) > 1 || hasSummary { // no window ever held the sum, and a compacted request is not the one that was sent
		input = 0
	}
	if hasSummary {
		u.Input, u.Read = u.Input+summaries.Input, u.Read+summaries.Read
		u.Write5m, u.Write1h = u.Write5m+summaries.Write5m, u.Write1h+summaries.Write1h
		u.CacheUnknown = u.CacheUnknown && summaries.Read+summaries.Write5m == 0
		output = max(output, 0) + summaries.Output
	}
	u.Input += u.Read + u.Write5m
	u.Write1h = min(u.Write1h, u.Write5m)
	u.Write5m -= u.Write1h
	u = answer.Complete(u, output, answer.Unknown)
	u.Uncached = u.Source != "" && !u.CacheUnknown && u.Read+u.Write5m+u.Write1h == 0
	u.Cut = u.Source != "" && hasStart && !hasEnd
	return u, input
}

// readCounts sets the counts of u that v states. Input is without what the cache had or took up, and Write5m has all
// that was written to it.
func readCounts(v gjson.Result, u *event.Usage) {
	for path, count := range map[string]*int{
		"input_tokens": &u.Input, "cache_read_input_tokens": &u.Read, "cache_creation_input_tokens": &u.Write5m,
		"cache_creation.ephemeral_1h_input_tokens": &u.Write1h,
	} {
		if n := answer.Tokens(v.Get(path)); n >= 0 {
			*count = n
			u.CacheUnknown = u.CacheUnknown && path == "input_tokens"
		}
	}
}

// compactions returns the counts of the calls of a turn that made a summary, which the sum over the turn leaves out. A
// server whose sum has all calls in it has no more.
func compactions(calls []gjson.Result, sum event.Usage, output int) (extra event.Usage) {
	input, said := 0, 0 // of all calls
	for _, v := range calls {
		var u event.Usage
		readCounts(v, &u)
		u.Output = max(0, answer.Tokens(v.Get("output_tokens")))
		input, said = input+u.Input, said+u.Output
		if v.Get("type").Str == "compaction" {
			extra.Input, extra.Read, extra.Output = extra.Input+u.Input, extra.Read+u.Read, extra.Output+u.Output
			extra.Write5m, extra.Write1h = extra.Write5m+u.Write5m, extra.Write1h+u.Write1h
		}
	}
	if input == sum.Input && said == output {
		return event.Usage{}
	}
	return extra
}
