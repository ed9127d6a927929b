package responses

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/dialect/jsonspan"
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

const path = "/responses" // ends the path of a request with a conversation; servers put paths of their own before it

func (Dialect) Owns(body []byte) bool {
	return !jsonspan.HasAny(body, "messages") && jsonspan.HasAny(body, "input", "instructions", "previous_response_id")
}

// Serves, Counts and Compacts tell three requests of a client apart by their path: for an answer of the model, for the
// size of a conversation, and for a conversation that the provider has made shorter (not epitome's own compaction). For
// the last two epitome repeats its earlier edits and decides none: they are about the form that the provider was sent.
func (Dialect) Serves(p []byte) bool   { return bytes.HasSuffix(p, []byte(path)) }
func (Dialect) Counts(p []byte) bool   { return bytes.HasSuffix(p, []byte(path+"/input_tokens")) }
func (Dialect) Compacts(p []byte) bool { return bytes.HasSuffix(p, []byte(path+"/compact")) }

const outputCap = "max_output_tokens"

func (Dialect) Path() string { return "/v1" + path }

// Continue puts an instruction behind the conversation in body, and asks for one plain text: no tool may be called, and
// the provider neither stores nor shortens anything. With encrypted reasoning the instruction is a developer's: behind
// words of the user the provider would leave that reasoning out, and all tokens behind it would miss the cache.
func (Dialect) Continue(body []byte, instruction string, f answer.Form) ([]byte, error) {
	role := "user"
	if bytes.Contains(body, []byte(`"encrypted_content"`)) {
		role = "developer"
	}
	asked, err := answer.Ask(body, "input", message(role, instruction), f)
	if err != nil {
		return nil, err
	}
	asked = jsonspan.Delete(asked, "background", "context_management", "truncation", "include", "max_tool_calls",
		"tool_choice", "text.format", "prompt_cache_options.prewarm", outputCap)
	if gjson.GetBytes(body, "tools.0").Exists() || bytes.Contains(body, []byte(`"additional_tools"`)) { // it has tools
		asked = jsonspan.Set(asked, "tool_choice", `"none"`)
	}
	if !f.OtherCap { // else the provider has refused the only cap that this API has
		asked = jsonspan.Set(asked, outputCap, strconv.Itoa(f.MaxOutput))
	}
	return jsonspan.Set(asked, "store", "false"), nil
}

func (d Dialect) Prompt(model, system, user string, f answer.Form) []byte {
	start := fmt.Appendf(nil, `{"model":%s,"instructions":%s,"input":[]}`, jsonspan.Quoted(model),
		jsonspan.Quoted(system))
	body, _ := d.Continue(start, user, f) // start has a list
	return body
}

func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	return answer.CapOutput(body, tokens, outputCap)
}
