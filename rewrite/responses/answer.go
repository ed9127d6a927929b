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
	"epitome/rewrite/answer"
	"epitome/rewrite/jsonspan"
)

// Ends of paths. Servers have them below paths of their own.
const (
	pathEnd        = "/responses"
	countPathEnd   = pathEnd + "/input_tokens"
	compactPathEnd = pathEnd + "/compact"
)

func (Dialect) Serves(path []byte) bool { return bytes.HasSuffix(path, []byte(pathEnd)) }

func (Dialect) Counts(path []byte) bool { return bytes.HasSuffix(path, []byte(countPathEnd)) }

// Compacts reports whether a request with that path has the provider compact a conversation.
func (Dialect) Compacts(path []byte) bool { return bytes.HasSuffix(path, []byte(compactPathEnd)) }

// MeantPath is nil: whatever a client leaves out of the path stands in its base URL.
func (Dialect) MeantPath([]byte, func(header string) bool) []byte { return nil }

var format = answer.Format{Step: stepOf, Document: readDocument, Event: readEvent}

func (Dialect) Begins(kind, event []byte) bool { return format.Begins(kind, event) }

func (Dialect) Fails(kind, event []byte) bool { return format.Fails(kind, event) }

// Holds is how long a stream may be held, counted from an event that neither begins nor fails. Servers send
// response.created at once, count the input for seconds and may refuse then; no client waits for such events. An empty
// message is shown to the user. A server that opens one before it asks the model refuses at once.
func (Dialect) Holds(kind, event []byte) time.Duration {
	if e := gjson.ParseBytes(event); isEmptyMessage(cmp.Or(e.Get("type").Str, string(bytes.TrimSpace(kind))), e) {
		return 500 * time.Millisecond
	}
	return 10 * time.Second
}

const itemDone = "response.output_item.done"

// stepOf returns what an event means for its answer.
func stepOf(name string, e gjson.Result) answer.Step {
	switch name {
	case "response.failed", "error":
		return answer.ErrorStep
	case "response.completed", "response.incomplete", "response.cancelled", "response.done":
		return answer.EndStep
	case "response.created", "response.queued", "response.in_progress", "response.metadata",
		"response.heartbeat", "keepalive", "ping":
		return answer.FrameStep
	}
	switch {
	case strings.HasPrefix(name, "codex.") || isEmptyMessage(name, e):
		return answer.FrameStep
	case answer.HasError(e):
		return answer.ErrorStep
	}
	return answer.SaidStep
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
func (Dialect) Opening([]byte) answer.Counts { return answer.NoCounts() }

// Usage reads the usage that an answer reports, and how many tokens the request had, those of the cache too; 0 if it
// does not say. heard is all of an answer, whole or streamed, or its end. Declarations of tools, which answers repeat,
// may have a member of that name: only one that the answer ends with counts.
func (Dialect) Usage(heard []byte, _ answer.Counts) (u event.Usage, input int) {
	v := answer.LastMember(heard, "usage", func(v jsonspan.Span) bool {
		rest := heard[v.End:]
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		return heard[v.Start] == '{' && (answer.Closes(rest, 1) || answer.Closes(line, 2))
	})
	counts := readUsage(gjson.ParseBytes(v.Of(heard)))
	return counts.Usage(), max(counts.Input, 0)
}

func readUsage(v gjson.Result) answer.Counts {
	s := answer.NoCounts()
	s.Input = answer.Tokens(v.Get("input_tokens"))
	s.Read = answer.Tokens(v.Get("input_tokens_details.cached_tokens"))
	s.Write5m = answer.Tokens(v.Get("input_tokens_details.cache_write_tokens"))
	s.Output = answer.Tokens(v.Get("output_tokens"))
	s.Reasoning = answer.Tokens(v.Get("output_tokens_details.reasoning_tokens"))
	s.Total = answer.Tokens(v.Get("total_tokens"))
	s.Charged = answer.Dollars(v.Get("cost")) // OpenRouter
	return s
}

func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	return format.Read(contentType, body)
}

func readDocument(a *answer.Answer, doc gjson.Result) {
	if !doc.Get("output").IsArray() {
		a.Fail([]byte(doc.Raw))
		return
	}
	finish(a, doc)
}

func readEvent(a *answer.Answer, name string, event gjson.Result) (last bool) {
	switch {
	case stepOf(name, event) == answer.EndStep:
		finish(a, event.Get("response"))
		return true
	case name == itemDone:
		readItem(a, event.Get("item"))
	}
	return false
}

// finish reads an answer as it is in the end. Its text came with each item before: some servers leave it out here.
func finish(a *answer.Answer, v gjson.Result) {
	a.IsOver = true
	a.Counts = readUsage(v.Get("usage"))
	status := v.Get("status").Str
	if status == "failed" || status == "cancelled" {
		a.Fail([]byte(v.Raw))
		return
	}
	reason := v.Get("incomplete_details.reason").Str
	a.Refused = a.Refused || reason == "content_filter"
	a.Cut = reason != "content_filter" && (reason != "" || status == "incomplete")
	items := v.Get("output").Array()
	if len(items) > 0 {
		a.Said.Reset()
	}
	for _, item := range items {
		readItem(a, item)
	}
}

func readItem(a *answer.Answer, item gjson.Result) {
	typeName := item.Get("type").Str
	a.Called = a.Called || strings.HasSuffix(typeName, "_call")
	if typeName != "message" {
		return
	}
	for _, part := range item.Get("content").Array() {
		switch part.Get("type").Str {
		case "output_text":
			a.Said.WriteString(part.Get("text").Str)
		case "refusal":
			a.Refused = true
		}
	}
}
