package messages

import (
	"encoding/json"

	"epitome/internal/fakeapi"
)

// events are the answer as a stream.
func (a *answer) events() []fakeapi.Event {
	start := *a
	start.Content, start.Stop, start.Context = []said{}, nil, nil
	start.Usage.Output, start.Usage.Rounds = 1, nil
	all := []fakeapi.Event{fakeapi.NewEvent("message_start", map[string]any{"message": start})}
	for i, s := range a.Content {
		all = append(all, fakeapi.NewEvent("content_block_start", map[string]any{"index": i, "content_block": s.opening()}))
		if i == 0 {
			all = append(all, fakeapi.NewEvent("ping", map[string]any{}))
		}
		for _, delta := range s.deltas() {
			all = append(all, fakeapi.NewEvent("content_block_delta", map[string]any{"index": i, "delta": delta}))
		}
		all = append(all, fakeapi.NewEvent("content_block_stop", map[string]any{"index": i}))
	}
	end := map[string]any{
		"delta": map[string]any{"stop_reason": a.Stop, "stop_sequence": a.Sequence},
		"usage": a.Usage.cumulative(),
	}
	if a.Context != nil {
		end["context_management"] = a.Context
	}
	return append(all, fakeapi.NewEvent("message_delta", end), fakeapi.NewEvent("message_stop", map[string]any{}))
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
	for _, piece := range fakeapi.CutUp(text) {
		all = append(all, map[string]string{"type": kind, field: piece})
	}
	return all
}
