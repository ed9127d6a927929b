package responses

import (
	"fmt"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/responses/rules"
)

// stream makes the events of one answer, numbered from 0.
type stream struct {
	events []fakeapi.Event
}

// add adds one event.
func (s *stream) add(name string, fields map[string]any) {
	fields["sequence_number"] = len(s.events)
	s.events = append(s.events, fakeapi.NewEvent(name, fields))
}

// open adds what every stream begins with.
func (s *stream) open(a *answer) {
	begun := *a
	begun.Status, begun.Reason, begun.Items, begun.Usage, begun.Error = "in_progress", "", []map[string]any{}, nil, nil
	s.add("response.created", map[string]any{"response": &begun})
	s.add("response.in_progress", map[string]any{"response": &begun})
}

// events are the answer as a stream.
func (a *answer) events() []fakeapi.Event {
	s := &stream{}
	s.open(a)
	for n, item := range a.Items {
		s.addItem(n, item)
	}
	s.add("response."+a.Status, map[string]any{"response": a})
	return s.events
}

// end ends a stream that breaks off, with a failure or an error.
func (s *stream) end(a *answer, t Turn) {
	switch {
	case t.Fail != nil:
		failed := *a
		failed.Status, failed.Reason, failed.Items, failed.Usage, failed.Error = "failed", "", []map[string]any{}, nil, t.Fail
		s.add("response.failed", map[string]any{"response": &failed})
	case t.Error != nil && a.q.Model.Overflow == rules.ErrorObject:
		s.add("error", map[string]any{"error": t.Error.Fields()})
	case t.Error != nil:
		fields := t.Error.Fields()
		delete(fields, "type")
		s.add("error", fields)
	}
}

// addItem adds one item: its beginning, its parts, its end.
func (s *stream) addItem(n int, item map[string]any) {
	id := item["id"]
	s.add("response.output_item.added", map[string]any{"output_index": n, "item": opening(item)})
	at := func(more map[string]any) map[string]any {
		more["item_id"], more["output_index"] = id, n
		return more
	}
	switch item["type"] {
	case "message":
		parts, _ := item["content"].([]any)
		for k, part := range parts {
			s.addPart(part.(map[string]any), func(more map[string]any) map[string]any {
				more["content_index"] = k
				return at(more)
			})
		}
	case "reasoning":
		s.addThought(item, at)
	case "function_call":
		s.addText("response.function_call_arguments", "arguments", item["arguments"].(string), at)
	case "custom_tool_call":
		s.addText("response.custom_tool_call_input", "input", item["input"].(string), at)
	case "web_search_call":
		for _, state := range []string{"in_progress", "searching", "completed"} {
			s.add("response.web_search_call."+state, at(map[string]any{}))
		}
	}
	s.add("response.output_item.done", map[string]any{"output_index": n, "item": item})
}

// addText adds deltas of a text and its end; it has the text under the name of the field.
func (s *stream) addText(name, field, text string, at func(map[string]any) map[string]any) {
	for _, piece := range fakeapi.CutUp(text) {
		delta := at(map[string]any{"delta": piece})
		if name == "response.output_text" {
			delta["logprobs"] = []any{}
		}
		s.add(name+".delta", delta)
	}
	done := at(map[string]any{field: text})
	if name == "response.output_text" {
		done["logprobs"] = []any{}
	}
	s.add(name+".done", done)
}

// addPart adds one part of a message.
func (s *stream) addPart(part map[string]any, at func(map[string]any) map[string]any) {
	empty := map[string]any{}
	for name, v := range part {
		empty[name] = v
	}
	empty["text"] = ""
	s.add("response.content_part.added", at(map[string]any{"part": empty}))
	s.addText("response.output_text", "text", part["text"].(string), at)
	s.add("response.content_part.done", at(map[string]any{"part": part}))
}

// addThought adds what is shown of reasoning.
func (s *stream) addThought(item map[string]any, at func(map[string]any) map[string]any) {
	for k, part := range list(item["summary"]) {
		within := func(more map[string]any) map[string]any {
			more["summary_index"] = k
			return at(more)
		}
		empty := map[string]any{"type": "summary_text", "text": ""}
		s.add("response.reasoning_summary_part.added", within(map[string]any{"part": empty}))
		s.addText("response.reasoning_summary_text", "text", fmt.Sprint(part["text"]), within)
		s.add("response.reasoning_summary_part.done", within(map[string]any{"part": part}))
	}
	for k, part := range list(item["content"]) {
		s.addText("response.reasoning_text", "text", fmt.Sprint(part["text"]), func(more map[string]any) map[string]any {
			more["content_index"] = k
			return at(more)
		})
	}
}

// list are the objects of a list.
func list(v any) []map[string]any {
	var all []map[string]any
	parts, _ := v.([]any)
	for _, part := range parts {
		if fields, ok := part.(map[string]any); ok {
			all = append(all, fields)
		}
	}
	return all
}

// opening is an item as it begins, with nothing in it.
func opening(item map[string]any) map[string]any {
	begun := map[string]any{}
	for name, v := range item {
		begun[name] = v
	}
	switch item["type"] {
	case "message":
		begun["content"] = []any{}
	case "reasoning":
		begun["summary"] = []any{}
		delete(begun, "content")
	case "function_call":
		begun["arguments"] = ""
	case "custom_tool_call":
		begun["input"] = ""
	}
	if _, ok := begun["status"]; ok {
		begun["status"] = "in_progress"
	}
	return begun
}
