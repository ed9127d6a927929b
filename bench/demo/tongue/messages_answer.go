package tongue

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"epitome/pattern"
	"epitome/scripted/messages/rules"
	"epitome/scripted/value"
)

// object is JSON that is written and not read.
type object = map[string]any

// answer gives what a model has answered in chat completions, streamed or not.
func (inMessages) answer(w http.ResponseWriter, from chatAnswer, streamed bool) {
	said := from.Choices[0].Message
	usage := object{"input_tokens": from.Usage.Prompt - from.Usage.Details.Cached, "output_tokens": from.Usage.Completion,
		"cache_read_input_tokens": from.Usage.Details.Cached, "cache_creation_input_tokens": 0}
	stop := "end_turn"
	if len(said.Calls) > 0 {
		stop = "tool_use"
	}
	spoken := appendTurn(nil, said)[0].blocks
	whole := object{"id": "msg_demo", "type": "message", "role": "assistant", "model": "demo", "content": spoken,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !streamed {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(value.Encode(whole))
		return
	}
	whole["content"], whole["stop_reason"] = []block{}, nil
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, more object) {
		more["type"] = kind
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, value.Encode(more)) // the client may have left
	}
	send("message_start", object{"message": whole})
	for i, b := range spoken {
		start, piece := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": b.Text}
		if b.Type == "tool_use" {
			start = object{"type": b.Type, "id": b.ID, "name": b.Name, "input": object{}}
			piece = object{"type": "input_json_delta", "partial_json": string(b.Input)}
		}
		send("content_block_start", object{"index": i, "content_block": start})
		send("content_block_delta", object{"index": i, "delta": piece})
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	send("message_stop", object{})
}

// event is one of a stream, as far as it says something.
type event struct {
	Type  string `json:"type"`
	Block block  `json:"content_block"`
	Delta struct {
		Text  string `json:"text"`
		Input string `json:"partial_json"`
	} `json:"delta"`
}

// hear puts a streamed answer together.
func (inMessages) hear(from io.Reader) (said chatMessage, err error) {
	said.Role = "assistant"
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return said, fmt.Errorf("cannot read an event: %w", err)
		}
		last := len(said.Calls) - 1
		switch {
		case e.Type == "content_block_start" && e.Block.Type == "tool_use":
			said.Calls = append(said.Calls, chatCall{Index: last + 1, ID: e.Block.ID, Type: "function",
				Function: chatFunction{Name: e.Block.Name}})
		case e.Type == "content_block_delta" && e.Delta.Text != "":
			said.Content += e.Delta.Text
		case e.Type == "content_block_delta" && last >= 0:
			said.Calls[last].Function.Arguments += e.Delta.Input
		case e.Type == "message_stop":
			return said, nil
		}
	}
	if err = lines.Err(); err == nil {
		err = errNoAnswer
	}
	return said, err
}

// anyModel is one that serves what any does.
func anyModel(string) rules.Model { return rules.ModelOf("") }

func (inMessages) judge(head http.Header, body []byte) (streamed bool, refused *refusal) {
	asked, flaw := rules.Read(head, body, false, anyModel)
	if flaw != nil {
		return false, &refusal{flaw.Status, flaw.Body()}
	}
	return asked.Streamed, nil
}

// tooLong is how the model tells that a request does not fit.
var tooLong = pattern.Of(`maximum context length is (\d+) tokens\. However, you\D+(\d+) tokens`)

func (inMessages) words(complaint string) *refusal {
	flaw := rules.Flaw("%s", complaint)
	if m := tooLong.FindStringSubmatch(complaint); m != nil {
		flaw = rules.Flaw("prompt is too long: %s tokens > %s maximum", m[2], m[1])
	}
	return &refusal{flaw.Status, flaw.Body()}
}
