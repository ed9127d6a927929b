package responses

import (
	"bytes"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/rewrite/reply"
	"epitome/rewrite/span"
	"epitome/rewrite/spent"
)

// This file is what the wire needs to know of the dialect: where its requests go, and what an answer tells as it
// passes.

// Wire is the dialect with what the wire needs to know of it besides.
type Wire struct{ Dialect }

// Path is where the API takes a conversation.
func (Dialect) Path() string { return "/v1" + pathEnd }

// Authorize gives the header of a request that speaks for a key.
func (Dialect) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"Authorization", "Bearer " + key}}
}

const (
	// pathEnd is how the path of every request ends that holds a conversation: servers have it below their own paths.
	pathEnd = "/responses"

	counting   = pathEnd + "/input_tokens" // asks how many tokens the conversation has
	compacting = pathEnd + "/compact"      // has the provider compact it
)

// Serves reports whether a request with that path holds a conversation.
func (Wire) Serves(path []byte) bool { return bytes.HasSuffix(path, []byte(pathEnd)) }

// Counts reports whether a request with that path asks how many tokens a conversation has.
func (Wire) Counts(path []byte) bool { return bytes.HasSuffix(path, []byte(counting)) }

// Compacts reports whether a request with that path has the provider compact a conversation.
func (Wire) Compacts(path []byte) bool { return bytes.HasSuffix(path, []byte(compacting)) }

// MeantPath is nil: what a client leaves out of the path stands in its base URL.
func (Wire) MeantPath([]byte, func(header string) bool) []byte { return nil }

// Events of a stream, by their types.
const (
	textPiece    = "response.output_text.delta"
	textWhole    = "response.output_text.done"
	refusalPiece = "response.refusal.delta"
	refusalWhole = "response.refusal.done"
	itemBegun    = "response.output_item.added"
	itemWhole    = "response.output_item.done"
	partBegun    = "response.content_part.added"
	partWhole    = "response.content_part.done"
	completed    = "response.completed"
	incomplete   = "response.incomplete"
	failed       = "response.failed"
	cancelled    = "response.cancelled"
)

// What a message of the model is made of.
const (
	messageItem = "message"
	outputText  = "output_text"
	refusalPart = "refusal"
)

// stepOf reads an event of a stream.
func stepOf(kind, data []byte) reply.Step { return reply.ReadStep(kind, data, stepOfObject) }

// stepOfObject is what an event of a name means.
func stepOfObject(name string, e gjson.Result) reply.Step {
	switch name {
	case failed, "error":
		return reply.ErrorStep
	case completed, incomplete, cancelled, "response.done":
		return reply.EndStep
	}
	switch {
	case isFrame(name) || saysNothing(name, e):
		return reply.FrameStep
	case reply.HasError(e):
		return reply.ErrorStep
	}
	return reply.SaidStep
}

// isFrame reports whether events of a type tell of the answer and say nothing of it: that it was taken, that it waits,
// and what servers put between.
func isFrame(name string) bool {
	switch name {
	case "response.created", "response.queued", "response.in_progress", "keepalive", "ping", "response.heartbeat",
		"response.metadata":
		return true
	}
	return strings.HasPrefix(name, "codex.")
}

// saysNothing reports whether an event is about a message of the model that has no word in it yet.
func saysNothing(name string, e gjson.Result) bool {
	switch name {
	case itemBegun, itemWhole:
		item := e.Get("item")
		return item.Get("type").Str == messageItem && !speaks(item)
	case partBegun, partWhole:
		return isEmptyText(e.Get("part"))
	case textPiece, refusalPiece:
		return e.Get("delta").Raw == `""`
	case textWhole:
		return e.Get("text").Raw == `""`
	case refusalWhole:
		return e.Get("refusal").Raw == `""`
	}
	return false
}

// speaks reports whether a message has more than empty texts in it.
func speaks(message gjson.Result) (something bool) {
	message.Get("content").ForEach(func(_, part gjson.Result) bool {
		something = !isEmptyText(part)
		return !something
	})
	return something
}

// isEmptyText reports whether a part of a message is a text, or a refusal, without a word.
func isEmptyText(part gjson.Result) bool {
	switch part.Get("type").Str {
	case outputText:
		return part.Get("text").Str == ""
	case refusalPart:
		return part.Get("refusal").Str == ""
	}
	return false
}

// Begins reports whether an event of a stream is more than the frame of an answer: a piece of what is said, the begin
// of an item that is no message, its end, or what is none of the dialect's.
func (Wire) Begins(kind, event []byte) bool { return stepOf(kind, event).Begins() }

// Holds is how long a stream may be held, counted from an event that neither begins nor fails. Servers send
// response.created at once and refuse once they have counted the input, which takes seconds, and no client waits for
// these events. A message without a word is shown to the user, and a refusal behind one follows at once: it comes from a
// server that opens the message before it asks the model.
func (Wire) Holds(kind, event []byte) time.Duration {
	step := reply.ReadStep(kind, event, func(name string, e gjson.Result) reply.Step {
		if saysNothing(name, e) {
			return reply.SaidStep
		}
		return reply.FrameStep
	})
	if step == reply.SaidStep {
		return 500 * time.Millisecond
	}
	return 10 * time.Second
}

// Fails reports whether an event of a stream tells of an error, or, as it is the first one that Begins, of an end
// before anything was said.
func (Wire) Fails(kind, event []byte) bool { return stepOf(kind, event).Fails() }

// Opening says nothing: usage stands at the end of an answer.
func (Wire) Opening([]byte) spent.Said { return spent.Nothing() }

// Usage is what an answer says of its tokens at its end, and how many of them the request had: what came from a cache
// and went to one is in it. That is 0 if it is not said. Declarations of tools, which answers repeat, may have such a
// name in them.
func (Wire) Usage(heard []byte, _ spent.Said) (u event.Usage, input int) {
	v := span.LastMember(heard, "usage", func(v span.Span) bool {
		return heard[v.Start] == '{' && closesAnswer(heard[v.End:])
	})
	if v.Empty() {
		return u, 0
	}
	said := readUsage(gjson.ParseBytes(v.Of(heard)))
	return said.Usage(), max(said.Input, 0)
}

// readUsage reads an object of usage.
func readUsage(v gjson.Result) spent.Said {
	s := spent.Nothing()
	v.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "input_tokens":
			s.Input = spent.Tokens(v)
		case "output_tokens":
			s.Output = spent.Tokens(v)
		case "total_tokens":
			s.Total = spent.Tokens(v)
		case "input_tokens_details":
			s.Read, s.Write5m = spent.Tokens(v.Get("cached_tokens")), spent.Tokens(v.Get("cache_write_tokens"))
		case "output_tokens_details":
			s.Reasoning = spent.Tokens(v.Get("reasoning_tokens"))
		case "cost": // OpenRouter
			s.Charged = spent.Dollars(v)
		}
		return true
	})
	return s
}

// closesAnswer reports whether what stands behind a value is the rest of an answer, or of an event with one, and
// nothing else.
func closesAnswer(rest []byte) bool {
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return span.Closes(rest, 1) || span.Closes(line, 2)
}
