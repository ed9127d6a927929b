package responses

import (
	"bytes"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/core/jsonspan"
	"epitome/event"
	"epitome/rewrite/reply"
	"epitome/rewrite/spent"
)

// Ends of paths. Servers have them below paths of their own.
const (
	pathEnd        = "/responses"
	countPathEnd   = pathEnd + "/input_tokens"
	compactPathEnd = pathEnd + "/compact"
)

// Serves reports whether a request with that path holds a conversation.
func (Dialect) Serves(path []byte) bool { return bytes.HasSuffix(path, []byte(pathEnd)) }

// Counts reports whether a request with that path asks for the size of a conversation alone.
func (Dialect) Counts(path []byte) bool { return bytes.HasSuffix(path, []byte(countPathEnd)) }

// Compacts reports whether a request with that path has the provider compact a conversation.
func (Dialect) Compacts(path []byte) bool { return bytes.HasSuffix(path, []byte(compactPathEnd)) }

// MeantPath is nil: whatever a client leaves out of the path stands in its base URL.
func (Dialect) MeantPath([]byte, func(header string) bool) []byte { return nil }

// Begins reports whether an event of a stream is more than the frame of an answer.
func (Dialect) Begins(kind, event []byte) bool { return reply.ReadStep(kind, event, stepOf).Begins() }

// Fails reports whether an event of a stream tells of an error, or ends an answer before anything was said.
func (Dialect) Fails(kind, event []byte) bool { return reply.ReadStep(kind, event, stepOf).Fails() }

// Holds is how long a stream may be held, counted from an event that neither begins nor fails. Servers send
// response.created at once, count the input for seconds and may refuse then; no client waits for such events. An empty
// message is shown to the user. A server that opens one before it asks the model refuses at once.
func (Dialect) Holds(kind, event []byte) time.Duration {
	step := reply.ReadStep(kind, event, func(name string, e gjson.Result) reply.Step {
		if isEmptyMessage(name, e) {
			return reply.SaidStep
		}
		return reply.FrameStep
	})
	if step == reply.SaidStep {
		return 500 * time.Millisecond
	}
	return 10 * time.Second
}

// Names of events of which the text of an answer is read.
const (
	textDelta    = "response.output_text.delta"
	refusalDelta = "response.refusal.delta"
	itemDone     = "response.output_item.done"
)

// stepOf returns what an event means for its answer.
func stepOf(name string, e gjson.Result) reply.Step {
	switch name {
	case "response.failed", "error":
		return reply.ErrorStep
	case "response.completed", "response.incomplete", "response.cancelled", "response.done":
		return reply.EndStep
	case "response.created", "response.queued", "response.in_progress", "response.metadata",
		"response.heartbeat", "keepalive", "ping":
		return reply.FrameStep
	}
	switch {
	case strings.HasPrefix(name, "codex.") || isEmptyMessage(name, e):
		return reply.FrameStep
	case reply.HasError(e):
		return reply.ErrorStep
	}
	return reply.SaidStep
}

// isEmptyMessage reports whether an event is about a message that says nothing yet.
func isEmptyMessage(name string, e gjson.Result) bool {
	switch name {
	case "response.output_item.added", itemDone:
		item := e.Get("item")
		isEmpty := item.Get("type").Str == "message"
		item.Get("content").ForEach(func(_, part gjson.Result) bool {
			isEmpty = isEmpty && isEmptyPart(part)
			return isEmpty
		})
		return isEmpty
	case "response.content_part.added", "response.content_part.done":
		return isEmptyPart(e.Get("part"))
	case textDelta, refusalDelta:
		return e.Get("delta").Raw == `""`
	case "response.output_text.done":
		return e.Get("text").Raw == `""`
	case "response.refusal.done":
		return e.Get("refusal").Raw == `""`
	}
	return false
}

func isEmptyPart(part gjson.Result) bool {
	switch part.Get("type").Str {
	case "output_text":
		return part.Get("text").Str == ""
	case "refusal":
		return part.Get("refusal").Str == ""
	}
	return false
}

// Opening says nothing: usage stands at the end of an answer.
func (Dialect) Opening([]byte) spent.Said { return spent.Nothing() }

// Usage reads the usage that an answer reports, and how many tokens the request had, those of the cache too; 0 if it
// does not say. heard is all of an answer, whole or streamed, or its end. Declarations of tools, which answers repeat,
// may have a member of that name: only one that the answer ends with counts.
func (Dialect) Usage(heard []byte, _ spent.Said) (u event.Usage, input int) {
	v := jsonspan.LastMember(heard, "usage", func(v jsonspan.Span) bool {
		rest := heard[v.End:]
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		return heard[v.Start] == '{' && (jsonspan.Closes(rest, 1) || jsonspan.Closes(line, 2))
	})
	said := readUsage(gjson.ParseBytes(v.Of(heard)))
	return said.Usage(), max(said.Input, 0)
}

func readUsage(v gjson.Result) spent.Said {
	s := spent.Nothing()
	s.Input = spent.Tokens(v.Get("input_tokens"))
	s.Read = spent.Tokens(v.Get("input_tokens_details.cached_tokens"))
	s.Write5m = spent.Tokens(v.Get("input_tokens_details.cache_write_tokens"))
	s.Output = spent.Tokens(v.Get("output_tokens"))
	s.Reasoning = spent.Tokens(v.Get("output_tokens_details.reasoning_tokens"))
	s.Total = spent.Tokens(v.Get("total_tokens"))
	s.Charged = spent.Dollars(v.Get("cost")) // OpenRouter
	return s
}
