package responses

import (
	"bytes"
	_ "embed" // compaction.tmpl
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/event"
	"epitome/internal/jsonspan"
)

// frame are the events that are parts of the frame, whatever they say.
var frame = []string{
	"response.created", "response.queued", "response.in_progress", "response.metadata", "response.heartbeat",
	"keepalive", "ping",
}

// Step returns the meaning of an event for its answer. A message that is still empty is a part of the frame.
func (Dialect) Step(name string, e gjson.Result) answer.Step {
	switch name {
	case "response.failed", "response.cancelled":
		return answer.ErrorStep
	case "response.completed", "response.incomplete", "response.done":
		return answer.EndStep
	}
	isEmpty := func(piece gjson.Result, kind, text string) bool {
		return piece.Get("type").Str == kind && piece.Get(text).Str == ""
	}
	switch {
	case slices.Contains(frame, name), strings.HasPrefix(name, "codex."), // such as codex.rate_limits
		isEmpty(e.Get("item"), "message", "content.0.text"), isEmpty(e.Get("part"), "output_text", "text"),
		isEmpty(e, "response.output_text.delta", "delta"):
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
	a.Compacted = a.Compacted || slices.Contains(compactions, typeName)
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

// Continue puts an instruction behind the conversation in body, and asks for one plain text: no tool may be called, and
// the provider neither stores nor shortens anything. With encrypted reasoning the instruction is a developer's: behind
// words of the user the provider would leave that reasoning out, and all tokens behind it would miss the cache.
func (Dialect) Continue(body []byte, instruction string, f answer.Form) ([]byte, error) {
	role := "user"
	if bytes.Contains(body, []byte(`"encrypted_content"`)) {
		role = "developer"
	}
	asked, err := api.Ask(body, api.Message(role, instruction), f)
	if err != nil {
		return nil, err
	}
	if !f.OtherCap { // else the provider has refused the only cap that this API has
		asked = jsonspan.Set(asked, answer.ResponsesCap, strconv.Itoa(f.MaxOutput))
	}
	return jsonspan.Set(asked, "store", "false"), nil
}

// Compaction is the answer to a request for a compaction.
type Compaction struct {
	ID            string    // of the answer and of the item, without their prefixes
	Model         string    //
	Sealed        string    // the content of the item, which the client does not read
	Created       time.Time //
	Input, Output int       // tokens of the conversation, and of the item
	Kept          []string  // the JSON of the user's messages before the item; set by OfPath
}

//go:embed compaction.tmpl
var compactionText string

var compaction = template.Must(template.New("").Funcs(template.FuncMap{"quoted": jsonspan.Quoted}).Parse(compactionText))

// Write returns the answer to a trigger in a form of compaction.tmpl: "whole", one JSON object, or "stream", as events.
func (c *Compaction) Write(form string) []byte {
	var b bytes.Buffer
	_ = compaction.ExecuteTemplate(&b, form, c) // a buffer takes everything
	return b.Bytes()
}

// Total is the sum of the tokens.
func (c *Compaction) Total() int { return c.Input + c.Output }

// OfPath returns the answer to a request at the path of compactions: the user's messages in the request, and the item.
func (c *Compaction) OfPath(request []byte) []byte {
	input := gjson.GetBytes(request, "input")
	if input.Type == gjson.String {
		input = gjson.Parse(`[{"role":"user","content":` + input.Raw + `}]`)
	}
	for n, entry := range input.Array() {
		if entry.Get("role").Str != "user" {
			continue
		}
		message := []byte(entry.Raw)
		id := fmt.Sprintf(`"msg_%s%d"`, c.ID, n)
		for _, member := range [][2]string{{"type", `"message"`}, {"id", id}, {"status", `"completed"`}} {
			if !entry.Get(member[0]).Exists() {
				message = jsonspan.Set(message, member[0], member[1])
			}
		}
		if v := entry.Get("content"); v.Type == gjson.String {
			message = jsonspan.Set(message, "content", "["+string(api.TextPart(v.Str))+"]")
		}
		c.Kept = append(c.Kept, string(message))
	}
	return c.Write("path")
}
