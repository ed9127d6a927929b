package messages

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/reply"
	"epitome/rewrite/spent"
	"epitome/sse"
)

// Begins reports whether an event of a streamed answer is more than the frame of one.
func (Dialect) Begins(kind, event []byte) bool { return stepOf(kind, event).Begins() }

// Fails reports whether an event of a streamed answer tells of an error, or of an end before anything was said.
func (Dialect) Fails(kind, event []byte) bool { return stepOf(kind, event).Fails() }

// Holds is how long a streamed answer may be held, counted from an event that neither begins nor fails.
func (Dialect) Holds(_, _ []byte) time.Duration { return 2 * time.Second }

// stepOf returns what an event of a stream means for the answer.
func stepOf(kind, data []byte) reply.Step {
	return reply.ReadStep(kind, data, func(name string, e gjson.Result) reply.Step {
		switch name {
		case "message_start", "ping", "content_block_stop":
			return reply.FrameStep
		case "content_block_start":
			if e.Get("content_block.type").Str == "text" && e.Get("content_block.text").Str == "" {
				return reply.FrameStep
			}
		case "content_block_delta":
			if addsNothing(e.Get("delta")) {
				return reply.FrameStep
			}
		case "message_delta":
			if e.Get("delta.stop_reason").Str == "" {
				return reply.FrameStep
			}
			return reply.EndStep
		case "message_stop":
			return reply.EndStep
		default:
			if name == "error" || reply.HasError(e) {
				return reply.ErrorStep
			}
		}
		return reply.SaidStep
	})
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

// maxEvent bounds an event of a stream, in bytes.
const maxEvent = 1 << 20

// ReadAnswer reads the texts of an answer, whole or streamed, without thinking. One that breaks off is
// io.ErrUnexpectedEOF.
func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	h := hearer{usage: usage{Said: spent.Nothing()}}
	limits := sse.Most{Document: reply.MostDocument, Event: maxEvent}
	if err := sse.ReadEither(contentType, body, limits, &h); err != nil {
		return prose.Answer{}, err
	}
	a := h.answer
	a.Text = h.text.String()
	a.Input, a.Output = inputOf(&h.usage.Said), max(h.usage.Output, 0)
	a.Cached, a.Written = max(h.usage.Read, 0), max(h.usage.Write5m, 0)
	return a, nil
}

// hearer collects an answer.
type hearer struct {
	answer  prose.Answer
	usage   usage
	text    strings.Builder
	isEnded bool // a reason to stop was given
}

// Document reads an answer that is not streamed.
func (h *hearer) Document(doc []byte) error {
	a, err := reply.Parse(doc)
	if err != nil {
		return err
	}
	content := a.Get("content")
	if !content.IsArray() || a.Get("type").Str == "error" {
		h.answer.Error = reply.Failure(doc)
		return nil
	}
	h.usage.update(a.Get("usage"))
	h.end(a.Get("stop_reason").Str)
	for _, b := range content.Array() {
		if err := h.add(b.Get("type").Str, b.Get("text").Str); err != nil {
			return err
		}
	}
	return nil
}

// Event reads one event of a stream, and reports whether it was the last one.
func (h *hearer) Event(e sse.Event) (last bool, err error) {
	data := bytes.TrimSpace(e.Data)
	if stepOf([]byte(e.Type), data) == reply.ErrorStep {
		h.answer.Error = reply.Failure(data)
		return true, nil
	}
	switch {
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]":
		return h.isEnded, nil
	case !jsonspan.Valid(data):
		return false, reply.ErrNoJSON
	}
	switch v := gjson.ParseBytes(data); v.Get("type").Str {
	case "message_start":
		h.usage.update(v.Get("message.usage"))
	case "content_block_start":
		err = h.add(v.Get("content_block.type").Str, v.Get("content_block.text").Str)
	case "content_block_delta":
		if v.Get("delta.type").Str == "text_delta" {
			err = h.add("text", v.Get("delta.text").Str)
		}
	case "message_delta":
		h.usage.update(v.Get("usage"))
		h.end(v.Get("delta.stop_reason").Str)
	case "message_stop":
		return true, nil
	}
	return false, err
}

// End is an error unless a reason to stop was given.
func (h *hearer) End() error {
	if !h.isEnded {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// add takes a block, or a piece of its text.
func (h *hearer) add(kindName, text string) error {
	switch kinds[kindName] {
	case textBlock:
		h.text.WriteString(text)
	case callBlock:
		h.answer.Called = true
	}
	if h.text.Len() > reply.MostText {
		return reply.ErrLongText
	}
	return nil
}

func (h *hearer) end(reason string) {
	h.isEnded = h.isEnded || reason != ""
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		h.answer.Cut = true
	case "refusal":
		h.answer.Refused = true
	case "tool_use", "pause_turn": // one waits for a result, the other goes on with tools at the provider
		h.answer.Called = true
	}
}

// usage is what an answer says of its tokens, as the API has it: Input is without what the cache had and took up, and
// Write5m is all that it took up.
type usage struct {
	spent.Said
	lastTurn    int          // input of the last of several turns before the answer; 0 if there was one
	compactions []spent.Said // by the provider: no other number covers them
}

// inputOf returns the whole input.
func inputOf(s *spent.Said) int { return max(s.Input, 0) + max(s.Read, 0) + max(s.Write5m, 0) }

// update takes over what an object of usage says.
func (u *usage) update(v gjson.Result) {
	readUsage(&u.Said, v)
	turns := v.Get("iterations")
	if !turns.IsArray() {
		return
	}
	u.compactions = nil
	for _, v := range turns.Array() {
		turn := spent.Nothing()
		readUsage(&turn, v)
		switch v.Get("type").Str {
		case "message":
			u.lastTurn = inputOf(&turn)
		case "compaction":
			u.compactions = append(u.compactions, turn)
		}
	}
}

// readUsage sets the numbers that v has. What is said last is true, but the output only grows.
func readUsage(s *spent.Said, v gjson.Result) {
	for path, to := range map[string]*int{
		"input_tokens": &s.Input, "cache_read_input_tokens": &s.Read, "cache_creation_input_tokens": &s.Write5m,
		"cache_creation.ephemeral_1h_input_tokens": &s.Write1h,
	} {
		if n := spent.Tokens(v.Get(path)); n != spent.Unsaid {
			*to = n
		}
	}
	s.Output = max(s.Output, spent.Tokens(v.Get("output_tokens")))
}

// total returns the numbers as all dialects have them.
func (u *usage) total() spent.Said {
	s := u.Said
	if s.Input == spent.Unsaid || s.Output == spent.Unsaid {
		return spent.Nothing()
	}
	s.Input = inputOf(&u.Said)
	s.Write1h = min(s.Write1h, s.Write5m)
	s.Write5m -= max(s.Write1h, 0)
	for i := range u.compactions {
		c := &u.compactions[i]
		s.Input += inputOf(c)
		s.Output += max(c.Output, 0)
		if c.Read > 0 {
			s.Read = max(s.Read, 0) + c.Read
		}
		if c.Write5m > 0 {
			s.Write5m = max(s.Write5m, 0) + c.Write5m
		}
	}
	return s
}

// Opening returns what the beginning of a streamed answer says of its tokens, for Usage.
func (Dialect) Opening(heard []byte) spent.Said {
	u := usage{Said: spent.Nothing()}
	u.readStream(heard)
	return u.Said
}

// Usage returns what an answer says of its tokens, and how many of them filled the window: nothing if it does not say,
// or if heard may miss a part of it. A stream says at its beginning what its request took and at its end what the model
// wrote: without that it is cut.
func (Dialect) Usage(heard []byte, opening spent.Said) (all event.Usage, input int) {
	u := usage{Said: opening}
	hasStart, hasEnd := u.readStream(heard)
	isStream := hasStart || hasEnd || opening.Input != spent.Unsaid
	switch {
	case !isStream:
		u.update(documentUsage(heard))
	case !hasStart && min(u.Input, u.Read, u.Write5m) == spent.Unsaid && opening.Input == spent.Unsaid:
		return event.Usage{}, u.lastTurn
	}
	all = u.total().Usage()
	all.Cut = all.Source != "" && isStream && !hasEnd
	if u.lastTurn > 0 {
		return all, u.lastTurn
	}
	return all, inputOf(&u.Said)
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

// documentUsage returns what an answer that is not streamed, or its end, says of its tokens. Arguments of calls may
// have the same key in them.
func documentUsage(heard []byte) gjson.Result {
	const name = "usage"
	v := reply.LastMember(heard, name, func(v jsonspan.Span) bool { return reply.Closes(heard[v.End:], 1) })
	switch {
	case !v.Empty():
		return gjson.ParseBytes(v.Of(heard))
	case jsonspan.Valid(heard): // it stands before a long content
		return gjson.GetBytes(heard, name)
	}
	return gjson.Result{}
}
