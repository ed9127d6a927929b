package responses

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
)

// Compaction is the answer to a request for a compaction.
type Compaction struct {
	ID            string    // of the answer and of the item, without their prefixes
	Model         string    //
	Sealed        string    // the content of the item, which the client does not read
	Created       time.Time //
	Input, Output int       // tokens of the conversation, and of the item
}

// object is a JSON object; its members are sorted when it is written.
type object = map[string]any

func (c *Compaction) item() object {
	return object{"type": "compaction", "id": "cmp_" + c.ID, "encrypted_content": c.Sealed}
}

func (c *Compaction) usage() object {
	return object{"input_tokens": c.Input, "input_tokens_details": object{"cached_tokens": 0},
		"output_tokens": c.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": c.Input + c.Output}
}

// response returns the answer to a trigger, with the item unless it is still in progress.
func (c *Compaction) response(isDone bool) object {
	r := object{"id": "resp_" + c.ID, "object": "response", "created_at": c.Created.Unix(), "status": "in_progress",
		"model": c.Model, "output": []object{}, "error": nil, "incomplete_details": nil, "instructions": nil,
		"metadata": object{}, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []object{}, "usage": nil}
	if isDone {
		r["status"] = "completed"
		r["output"] = []object{c.item()}
		r["usage"] = c.usage()
	}
	return r
}

// Whole returns the answer to a trigger as one JSON object.
func (c *Compaction) Whole() []byte { return encode(c.response(true)) }

// Stream returns the answer to a trigger as events.
func (c *Compaction) Stream() []byte {
	var stream []byte
	for n, e := range []object{
		{"type": "response.created", "response": c.response(false)},
		{"type": "response.output_item.added", "output_index": 0, "item": c.item()},
		{"type": "response.output_item.done", "output_index": 0, "item": c.item()},
		{"type": "response.completed", "response": c.response(true)},
	} {
		e["sequence_number"] = n
		stream = fmt.Appendf(stream, "event: %s\ndata: %s\n\n", e["type"], encode(e))
	}
	return stream
}

// OfPath returns the answer to a request at the path of compactions: the user's messages in the request, and the item.
func (c *Compaction) OfPath(request []byte) []byte {
	output := []object{}
	input := gjson.GetBytes(request, "input")
	if input.Type == gjson.String {
		input = gjson.Parse(`[{"role":"user","content":` + input.Raw + `}]`)
	}
	for n, entry := range input.Array() {
		if entry.Get("role").Str != "user" {
			continue
		}
		message := object{"id": fmt.Sprintf("msg_%s%d", c.ID, n), "status": "completed"}
		for key, v := range entry.Map() {
			message[key] = json.RawMessage(v.Raw)
		}
		message["type"] = "message"
		if v := entry.Get("content"); v.Type == gjson.String {
			message["content"] = []object{{"type": "input_text", "text": v.Str}}
		}
		output = append(output, message)
	}
	return encode(object{"id": "resp_" + c.ID, "object": "response.compaction", "created_at": c.Created.Unix(),
		"output": append(output, c.item()), "usage": c.usage()})
}

func encode(v object) []byte {
	b, _ := json.Marshal(v) // texts, numbers, and JSON that was read
	return b
}

// CompactionsIn returns the contents of the compaction items in an answer, whole or streamed, and reports whether the
// answer has come to its proper end.
func CompactionsIn(content []byte) (sealed []string, isComplete bool) {
	read := func(v gjson.Result) {
		items := v.Get("output").Array()
		if strings.HasPrefix(v.Get("type").Str, "response.output_item.") {
			items = append(items, v.Get("item"))
		}
		for _, item := range items {
			if kinds[item.Get("type").Str].holds == compaction {
				sealed = append(sealed, item.Get("encrypted_content").Str)
			}
		}
		status := v.Get("status")
		isDone := status.Str == "completed" || !status.Exists()
		isComplete = isComplete || isDone && v.Get("output").IsArray()
	}
	if gjson.ValidBytes(content) {
		read(gjson.ParseBytes(content))
		return sealed, isComplete
	}
	for e := range answer.Events(content) {
		event := gjson.ParseBytes(e.Data)
		read(event)
		read(event.Get("response"))
	}
	return sealed, isComplete
}
