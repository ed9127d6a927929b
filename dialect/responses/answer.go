package responses

import (
	"strings"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/event"
)

// Step returns the meaning of an event for its answer. A message that is still empty is a part of the frame.
func (Dialect) Step(name string, e gjson.Result) answer.Step {
	isFrame := strings.HasPrefix(name, "codex.") // such as codex.rate_limits, which is not of the answer
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

func (Dialect) Usage(text []byte) (u event.Usage, input int) {
	return answer.ReadUsage(text, "input", "output")
}

// Add adds an answer, or an event of a streamed one, to a. A stream has the items of an answer one by one; its
// last event repeats them all, unless the server leaves them out there; repeated items replace the text read before.
func (Dialect) Add(a *answer.Partial, v gjson.Result) {
	if v.Get("type").Str == "response.output_item.done" {
		addItem(a, v.Get("item"))
	}
	if whole := v.Get("response"); whole.Exists() {
		v = whole
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

func addItem(a *answer.Partial, item gjson.Result) {
	typeName := item.Get("type").Str
	a.Called = a.Called || strings.HasSuffix(typeName, "_call")
	if typeName != "message" { // a call, or reasoning, which is not read
		return
	}
	for _, part := range item.Get("content").Array() {
		if part.Get("type").Str == "refusal" {
			a.Refused = true
		}
		a.Said.WriteString(part.Get("text").Str)
	}
}
