package responses

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/answer"
)

const path = "/responses" // how paths of conversations end: servers have them below paths of their own

func (Dialect) Serves(p []byte) bool   { return bytes.HasSuffix(p, []byte(path)) }
func (Dialect) Counts(p []byte) bool   { return bytes.HasSuffix(p, []byte(path+"/input_tokens")) }
func (Dialect) Compacts(p []byte) bool { return bytes.HasSuffix(p, []byte(path+"/compact")) }

var format = answer.Format{Step: stepOf, Add: addPiece, Usage: Dialect{}.Usage}

func (Dialect) Step(kind, data []byte) answer.Step { return format.StepOf(kind, data) }

// Holds is long: servers send response.created at once, count the input for seconds and may refuse then. No client
// waits for the events before the first word.
func (Dialect) Holds() time.Duration { return 10 * time.Second }

// stepOf returns what an event means for its answer. A message that says nothing yet is a part of the frame.
func stepOf(name string, e gjson.Result) answer.Step {
	isFrame := strings.HasPrefix(name, "codex.")
	switch name {
	case "response.failed", "response.cancelled":
		return answer.ErrorStep
	case "response.completed", "response.incomplete", "response.done":
		return answer.EndStep
	case "response.created", "response.queued", "response.in_progress", "response.metadata",
		"response.heartbeat", "keepalive", "ping":
		isFrame = true
	case "response.output_item.added":
		isFrame = e.Get("item.type").Str == "message" && e.Get("item.content.0.text").Str == ""
	case "response.content_part.added":
		isFrame = e.Get("part.type").Str == "output_text" && e.Get("part.text").Str == ""
	case "response.output_text.delta":
		isFrame = e.Get("delta").Str == ""
	}
	if isFrame {
		return answer.FrameStep
	}
	return answer.SaidStep
}

// Usage reads the usage that an answer reports, and how many tokens the request had, those of the cache too; 0 if it
// does not say. heard is all of an answer, whole or streamed, or its end.
func (Dialect) Usage(heard []byte) (u event.Usage, input int) {
	c := answer.ReadCounts(answer.LastUsage(heard, "input_tokens"), "input", "output")
	return c.Usage(), max(c.Input, 0)
}

func (Dialect) ReadAnswer(body io.Reader) (prose.Answer, error) { return format.Read(body) }

// addPiece reads an answer, or an event of one. Its items come one by one, and again at its end, where some servers
// leave them out.
func addPiece(a *answer.Answer, v gjson.Result) {
	if v.Get("type").Str == "response.output_item.done" {
		addItem(a, v.Get("item"))
	}
	if response := v.Get("response"); response.Exists() {
		v = response
	}
	items := v.Get("output").Array()
	if len(items) > 0 {
		a.Said.Reset()
	}
	for _, item := range items {
		addItem(a, item)
	}
	reason := v.Get("incomplete_details.reason").Str
	a.Refused = a.Refused || reason == "content_filter"
	a.Cut = a.Cut || reason != "content_filter" && v.Get("status").Str == "incomplete"
}

func addItem(a *answer.Answer, item gjson.Result) {
	typeName := item.Get("type").Str
	a.Called = a.Called || strings.HasSuffix(typeName, "_call")
	if typeName != "message" {
		return
	}
	for _, part := range item.Get("content").Array() {
		if part.Get("type").Str == "refusal" {
			a.Refused = true
		}
		a.Said.WriteString(part.Get("text").Str)
	}
}
