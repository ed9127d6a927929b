package responses

import (
	"bytes"
	"cmp"
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

const itemDone = "response.output_item.done"

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
		if e.Get("item.type").Str != "message" {
			return false
		}
	case "response.content_part.added", "response.content_part.done":
		if typeName := e.Get("part.type").Str; typeName != "output_text" && typeName != "refusal" {
			return false
		}
	case "response.output_text.delta", "response.output_text.done", "response.refusal.delta", "response.refusal.done":
	default:
		return false
	}
	for _, path := range [...]string{
		"delta", "text", "refusal", "part.text", "part.refusal", "item.content.0.text", "item.content.0.refusal",
	} {
		if e.Get(path).Str != "" {
			return false
		}
	}
	return true
}

// Opening says nothing: usage stands at the end of an answer.
func (Dialect) Opening([]byte) spent.Said { return spent.Nothing() }

// Usage reads the usage that an answer reports, and how many tokens the request had, those of the cache too; 0 if it
// does not say. heard is all of an answer, whole or streamed, or its end. Declarations of tools, which answers repeat,
// may have a member of that name: only one that the answer ends with counts.
func (Dialect) Usage(heard []byte, _ spent.Said) (u event.Usage, input int) {
	v := reply.LastMember(heard, "usage", func(v jsonspan.Span) bool {
		rest := heard[v.End:]
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		return heard[v.Start] == '{' && (reply.Closes(rest, 1) || reply.Closes(line, 2))
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

// maxEvent is the most of an event, in bytes: some repeat the settings of the request, tools and all.
const maxEvent = 4 << 20

// ReadAnswer reads the text of an answer, whole or as a stream, whatever its type says. One that breaks off is
// io.ErrUnexpectedEOF.
func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	var a answer
	most := sse.Most{Document: reply.MostDocument, Event: maxEvent}
	if err := sse.ReadEither(contentType, body, most, &a); err != nil {
		return prose.Answer{}, err
	}
	a.Text = a.text.String()
	return a.Answer, nil
}

// answer is what has been read of one. It implements sse.Hearer. Its text comes with each item and again at the end,
// where some servers leave it out.
type answer struct {
	prose.Answer
	text   strings.Builder
	isOver bool
}

// Document reads an answer that is no stream.
func (a *answer) Document(doc []byte) error {
	v, err := reply.Parse(doc)
	if err != nil {
		return err
	}
	if !v.Get("output").IsArray() {
		a.Error = reply.Failure(doc)
		return nil
	}
	return a.finish(v, doc)
}

// Event reads one event of a stream, and reports whether it was the last one.
func (a *answer) Event(e sse.Event) (last bool, err error) {
	data := bytes.TrimSpace(e.Data)
	step := reply.ReadStep([]byte(e.Type), data, stepOf)
	switch {
	case step == reply.ErrorStep:
		a.Error = reply.Failure(data)
		return true, nil
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]":
		return a.isOver, nil
	}
	v, err := reply.Parse(data)
	switch {
	case err != nil:
		return false, err
	case step == reply.EndStep:
		return true, a.finish(v.Get("response"), data)
	case cmp.Or(v.Get("type").Str, strings.TrimSpace(e.Type)) == itemDone:
		return false, a.readItem(v.Get("item"))
	}
	return false, nil
}

// End is an error unless the stream said that the answer ended.
func (a *answer) End() error {
	if !a.isOver {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// finish reads an answer as it is in the end. doc is where it stands.
func (a *answer) finish(v gjson.Result, doc []byte) error {
	a.isOver = true
	used := readUsage(v.Get("usage"))
	a.Input, a.Output = max(used.Input, 0), max(used.Output, 0)
	a.Cached, a.Written = max(used.Read, 0), max(used.Write5m, 0)
	status := v.Get("status").Str
	if status == "failed" || status == "cancelled" {
		a.Error = reply.Failure(doc)
		return nil
	}
	reason := v.Get("incomplete_details.reason").Str
	a.Refused = a.Refused || reason == "content_filter"
	a.Cut = reason != "content_filter" && (reason != "" || status == "incomplete")
	items := v.Get("output").Array()
	if len(items) > 0 {
		a.text.Reset()
	}
	for _, item := range items {
		if err := a.readItem(item); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) readItem(item gjson.Result) error {
	typeName := item.Get("type").Str
	a.Called = a.Called || strings.HasSuffix(typeName, "_call")
	if typeName != "message" {
		return nil
	}
	for _, part := range item.Get("content").Array() {
		switch part.Get("type").Str {
		case "output_text":
			a.text.WriteString(part.Get("text").Str)
		case "refusal":
			a.Refused = true
		}
	}
	if a.text.Len() > reply.MostText {
		return reply.ErrLongText
	}
	return nil
}
