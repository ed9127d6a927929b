package messages

import (
	"cmp"
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
		isFrame = addsNothing(e.Get("delta"))
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

// addsNothing reports whether a delta adds nothing to an answer.
func addsNothing(delta gjson.Result) bool {
	empty := true
	delta.ForEach(func(key, v gjson.Result) bool {
		empty = key.Str == "type" || v.Type == gjson.Null || v.Raw == `""`
		return empty
	})
	return empty
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

// usage is what an answer says of its tokens, as the API has it: Input is without what the cache had and took up, and
// Write5m is all that it took up.
type usage struct {
	answer.Counts
	lastTurn    int           // input of the last of several turns before the answer; 0 if there was one
	compactions answer.Counts // by the provider, all together: no other number covers them
}

// inputOf returns the whole input.
func inputOf(s *answer.Counts) int { return max(s.Input, 0) + max(s.Read, 0) + max(s.Write5m, 0) }

// update takes over what an object of usage says.
func (u *usage) update(v gjson.Result) {
	readUsage(&u.Counts, v)
	turns := v.Get("iterations")
	if !turns.IsArray() {
		return
	}
	u.compactions = answer.Counts{}
	for _, v := range turns.Array() {
		turn := answer.NoCounts()
		readUsage(&turn, v)
		switch v.Get("type").Str {
		case "message":
			u.lastTurn = inputOf(&turn)
		case "compaction":
			u.compactions.Input += inputOf(&turn)
			u.compactions.Output += max(turn.Output, 0)
			u.compactions.Read += max(turn.Read, 0)
			u.compactions.Write5m += max(turn.Write5m, 0)
		}
	}
}

// readUsage sets the numbers that v has. What is said last is true, but the output only grows.
func readUsage(s *answer.Counts, v gjson.Result) {
	for path, to := range map[string]*int{
		"input_tokens": &s.Input, "cache_read_input_tokens": &s.Read, "cache_creation_input_tokens": &s.Write5m,
		"cache_creation.ephemeral_1h_input_tokens": &s.Write1h,
	} {
		if n := answer.Tokens(v.Get(path)); n != answer.Unknown {
			*to = n
		}
	}
	s.Output = max(s.Output, answer.Tokens(v.Get("output_tokens")))
}

// total returns the numbers as all dialects have them.
func (u *usage) total() answer.Counts {
	s := u.Counts
	if s.Input == answer.Unknown || s.Output == answer.Unknown {
		return answer.NoCounts()
	}
	s.Input = inputOf(&u.Counts)
	s.Write1h = min(s.Write1h, s.Write5m)
	s.Write5m -= max(s.Write1h, 0)
	s.Input += u.compactions.Input
	s.Output += u.compactions.Output
	if n := u.compactions.Read; n > 0 {
		s.Read = max(s.Read, 0) + n
	}
	if n := u.compactions.Write5m; n > 0 {
		s.Write5m = max(s.Write5m, 0) + n
	}
	return s
}

// Opening returns what the beginning of a streamed answer says of its tokens, for Usage.
func (Dialect) Opening(heard []byte) answer.Counts {
	u := usage{Counts: answer.NoCounts()}
	u.readStream(heard)
	return u.Counts
}

// Usage returns what an answer says of its tokens, and how many of them filled the window: nothing if it does not say,
// or if heard may miss a part of it. A stream says at its beginning what its request took and at its end what the model
// wrote: without that it is cut.
func (Dialect) Usage(heard []byte, opening answer.Counts) (all event.Usage, input int) {
	u := usage{Counts: opening}
	hasStart, hasEnd := u.readStream(heard)
	isStream := hasStart || hasEnd || opening.Input != answer.Unknown
	switch {
	case !isStream:
		u.update(answer.LastUsage(heard, "input_tokens"))
	case !hasStart && min(u.Input, u.Read, u.Write5m) == answer.Unknown && opening.Input == answer.Unknown:
		return event.Usage{}, u.lastTurn
	}
	all = u.total().Usage()
	all.Cut = all.Source != "" && isStream && !hasEnd
	return all, cmp.Or(u.lastTurn, inputOf(&u.Counts))
}

// readStream reads the usage in a piece of a stream. hasStart reports whether it says what the request took, and hasEnd
// whether it says what the model wrote.
func (u *usage) readStream(heard []byte) (hasStart, hasEnd bool) {
	for f := range sse.Fields(heard) {
		if string(f.Name) != "data" || !gjson.ValidBytes(f.Value) {
			continue
		}
		switch e := gjson.ParseBytes(f.Value); e.Get("type").Str {
		case "message_start":
			hasStart = true
			u.update(e.Get("message.usage"))
		case "message_delta":
			hasEnd = hasEnd || e.Get("usage.output_tokens").Exists()
			u.update(e.Get("usage"))
		}
	}
	return hasStart, hasEnd
}
