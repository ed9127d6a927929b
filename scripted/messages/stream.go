package messages

import (
	"encoding/json"
	"fmt"

	"epitome/scripted/messages/rules"
)

// pieceBytes is how much of a text one event has.
const pieceBytes = 64

// event is one of a stream.
type event struct {
	name string
	data []byte
}

// frame is the event as it is sent.
func (e event) frame() []byte { return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e.name, e.data) }

// newEvent makes an event with its type.
func newEvent(name string, fields map[string]any) event {
	fields["type"] = name
	return event{name, rules.Encode(fields)}
}

// events are the answer as a stream.
func (a *answer) events() []event {
	start := *a
	start.Content, start.Stop, start.Context = []said{}, nil, nil
	start.Usage.Output, start.Usage.Rounds = 1, nil
	all := []event{newEvent("message_start", map[string]any{"message": start})}
	for i, s := range a.Content {
		all = append(all, newEvent("content_block_start", map[string]any{"index": i, "content_block": s.opening()}))
		if i == 0 {
			all = append(all, newEvent("ping", map[string]any{}))
		}
		for _, delta := range s.deltas() {
			all = append(all, newEvent("content_block_delta", map[string]any{"index": i, "delta": delta}))
		}
		all = append(all, newEvent("content_block_stop", map[string]any{"index": i}))
	}
	end := map[string]any{
		"delta": map[string]any{"stop_reason": a.Stop, "stop_sequence": a.Sequence},
		"usage": a.Usage.cumulative(),
	}
	if a.Context != nil {
		end["context_management"] = a.Context
	}
	return append(all, newEvent("message_delta", end), newEvent("message_stop", map[string]any{}))
}

// cumulative is what message_delta tells of tokens: all of the answer.
func (u answerUsage) cumulative() map[string]any {
	all := map[string]any{"input_tokens": u.Input, "cache_creation_input_tokens": u.Written,
		"cache_read_input_tokens": u.Read, "output_tokens": u.Output}
	if u.Rounds != nil {
		all["iterations"] = u.Rounds
	}
	return all
}

// opening is the block as it begins, with nothing in it.
func (s said) opening() said {
	empty := ""
	switch s.Type {
	case "text":
		s.Text = &empty
	case "thinking":
		s.Thinking, s.Signature = &empty, &empty
	case "tool_use":
		s.Input = json.RawMessage("{}")
	case "compaction":
		s.Content, s.Encrypted = &empty, ""
	}
	return s
}

// deltas are what is added to the opening.
func (s said) deltas() []map[string]string {
	switch s.Type {
	case "text":
		return cutUp("text_delta", "text", *s.Text)
	case "thinking":
		return append(cutUp("thinking_delta", "thinking", *s.Thinking),
			map[string]string{"type": "signature_delta", "signature": *s.Signature})
	case "tool_use":
		first := map[string]string{"type": "input_json_delta", "partial_json": ""}
		return append([]map[string]string{first}, cutUp("input_json_delta", "partial_json", string(s.Input))...)
	case "compaction":
		return []map[string]string{{"type": "compaction_delta", "content": *s.Content, "encrypted_content": s.Encrypted}}
	}
	return nil
}

// cutUp makes deltas of one kind of a text.
func cutUp(kind, field, text string) []map[string]string {
	var all []map[string]string
	begin := 0
	for i := range text {
		if i-begin >= pieceBytes {
			all = append(all, map[string]string{"type": kind, field: text[begin:i]})
			begin = i
		}
	}
	if begin < len(text) {
		all = append(all, map[string]string{"type": kind, field: text[begin:]})
	}
	return all
}
