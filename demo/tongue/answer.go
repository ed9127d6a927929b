package tongue

import (
	"encoding/json"
	"fmt"
	"net/http"

	"epitome/scripted/messages/rules"
	"epitome/scripted/value"
)

// object is JSON that is written and not read.
type object = map[string]any

// answer gives what a model has answered in chat completions, streamed or not.
func answer(w http.ResponseWriter, body []byte, streamed bool) {
	var from struct {
		Choices []struct{ Message chatMessage }
		Usage   struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
			Details    struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if err := json.Unmarshal(body, &from); err != nil || len(from.Choices) == 0 {
		refuse(w, rules.Flaw("the model says nothing that could be read: %v", err))
		return
	}
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
