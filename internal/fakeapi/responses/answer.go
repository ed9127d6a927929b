package responses

import (
	"encoding/json"
	"fmt"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/responses/rules"
)

// epoch is when the first answer was made, in seconds since 1970.
const epoch = 1_795_000_000

// answer is a response of the model, whole.
type answer struct {
	ID         string
	N          int
	Status     string
	Reason     string // of an incomplete one
	Items      []map[string]any
	Usage      *rules.Usage // nil until it is known
	Error      *rules.Refusal
	q          *rules.Request
	compaction bool // of /compact
}

// MarshalJSON writes the response as it stands.
func (a *answer) MarshalJSON() ([]byte, error) {
	if a.compaction {
		return fakeapi.Encode(map[string]any{"id": a.ID, "object": "response.compaction", "created_at": epoch + a.N,
			"output": a.Items, "usage": usageOf(a.Usage)}), nil
	}
	all := map[string]any{
		"id": a.ID, "object": "response", "created_at": epoch + a.N, "status": a.Status, "model": a.q.Name,
		"output": a.Items, "usage": usageOf(a.Usage), "error": nil, "incomplete_details": nil, "store": a.q.Stored,
		"background": a.q.Background, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{},
		"temperature": 1, "top_p": 1, "truncation": "disabled", "metadata": map[string]any{},
		"text":      map[string]any{"format": map[string]any{"type": "text"}},
		"reasoning": map[string]any{"effort": nil, "summary": nil},
	}
	for _, name := range []string{"instructions", "max_output_tokens", "previous_response_id", "parallel_tool_calls",
		"tool_choice", "tools", "temperature", "top_p", "truncation", "metadata", "text", "reasoning", "user",
		"prompt_cache_key", "service_tier", "safety_identifier"} {
		if a.q.Fields.Has(name) {
			all[name] = a.q.Fields[name]
		} else if _, ok := all[name]; !ok {
			all[name] = nil
		}
	}
	if a.Reason != "" {
		all["incomplete_details"] = map[string]string{"reason": a.Reason}
	}
	if a.Error != nil {
		all["error"] = map[string]any{"code": a.Error.Code, "message": a.Error.Message}
	}
	return fakeapi.Encode(all), nil
}

// usageOf is u as it is sent.
func usageOf(u *rules.Usage) any {
	if u == nil {
		return nil
	}
	input := map[string]int{"cached_tokens": u.Cached}
	if u.Written > 0 {
		input["cache_write_tokens"] = u.Written
	}
	return map[string]any{"input_tokens": u.Input, "input_tokens_details": input, "output_tokens": u.Output,
		"output_tokens_details": map[string]int{"reasoning_tokens": u.Reasoning}, "total_tokens": u.Input + u.Output}
}

// speaker makes the items of answers. Its numbers go on from answer to answer.
type speaker struct {
	count func(string) int
	items int
	calls int
}

// id is the next item's, with the beginning that its type has.
func (s *speaker) id(prefix string) string {
	s.items++
	return fmt.Sprintf("%s_%032d", prefix, s.items)
}

// call is the id of the next call.
func (s *speaker) call() string {
	s.calls++
	return fmt.Sprintf("call_%024d", s.calls)
}

// say makes one item.
func (s *speaker) say(q *rules.Request, i Item) map[string]any {
	switch i.kind {
	case "message":
		part := map[string]any{"type": "output_text", "text": i.text, "annotations": []any{}, "logprobs": []any{}}
		return map[string]any{"id": s.id("msg"), "type": "message", "status": "completed", "role": "assistant",
			"content": []any{part}}
	case "reasoning":
		return s.think(q, i)
	case "compaction":
		id := s.id("cmp")
		return map[string]any{"id": id, "type": "compaction",
			"encrypted_content": rules.Seal(q, "compaction", id, s.count(i.text))}
	case "function_call", "custom_tool_call":
		if i.id == "" {
			i.id = s.call()
		}
		if i.kind == "custom_tool_call" {
			return map[string]any{"id": s.id("ctc"), "type": i.kind, "status": "completed", "call_id": i.id,
				"name": i.name, "input": i.input}
		}
		return map[string]any{"id": s.id("fc"), "type": i.kind, "status": "completed", "call_id": i.id, "name": i.name,
			"arguments": i.input}
	}
	var raw map[string]any
	if err := json.Unmarshal([]byte(i.text), &raw); err != nil {
		panic(fmt.Sprintf("the scripted item %q is no object", i.text))
	}
	return raw
}

// think makes reasoning: a summary if it is asked for, and what is opaque.
func (s *speaker) think(q *rules.Request, i Item) map[string]any {
	id := s.id("rs")
	made := map[string]any{"id": id, "type": "reasoning", "summary": []any{}}
	settings, _ := fakeapi.CutObject(q.Fields["reasoning"])
	if settings.Has("summary") {
		made["summary"] = []any{map[string]any{"type": "summary_text", "text": "**Thinking** " + i.text}}
	}
	switch {
	case q.Model.Maker != rules.OpenAI:
		made["content"] = []any{map[string]any{"type": "reasoning_text", "text": i.text}}
	case q.Includes("reasoning.encrypted_content"):
		made["encrypted_content"] = rules.Seal(q, "reasoning", id, s.count(i.text))
	}
	return made
}

// compose makes the answer to q with what max_output_tokens leaves of the turn. The lock is held.
func (s *Server) compose(t Turn, q *rules.Request, u rules.Usage) *answer {
	items, reason := t.plan(q, u.Input), t.Stop
	whole := items
	if most := q.MaxOutput; most > 0 {
		var cut bool
		if items, cut = fit(items, most, s.count); cut {
			reason = "max_output_tokens"
		}
	}
	if q.Model.Overflow == rules.EndsAtOnce && u.Input > q.Model.Window && !q.Truncates {
		items, reason = nil, "max_output_tokens"
	}
	s.answers++
	a := begin(q, s.answers)
	a.Status, a.Reason, a.Items = "completed", reason, []map[string]any{}
	if reason != "" {
		a.Status = "incomplete"
	}
	if q.Purpose == rules.Compact {
		a.compaction = true
		a.Items = append(a.Items, said(q)...)
	}
	var made []*rules.Item
	for n, i := range items {
		item := s.speaker.say(q, i)
		if i.text != whole[n].text {
			item["status"] = "incomplete"
		}
		read, refused := rules.ReadItem(fakeapi.Encode(item), fmt.Sprintf("output[%d]", n), rules.OpenAI)
		if refused != nil {
			panic(fmt.Sprintf("the scripted item %s is none: %v", fakeapi.Encode(item), refused))
		}
		a.Items, made = append(a.Items, item), append(made, read)
		u.Output += i.size(s.count)
		if i.kind == "reasoning" {
			u.Reasoning += i.size(s.count)
		}
	}
	a.Usage = &u
	s.book.Issue(q, a.ID, made)
	if q.Stored {
		s.kept[a.ID] = a
	}
	return a
}

// begin is answer n, of which nothing is known.
func begin(q *rules.Request, n int) *answer {
	return &answer{ID: fmt.Sprintf("resp_%032d", n), N: n, Status: "in_progress", q: q, Items: []map[string]any{}}
}

// said are the user's messages in q, as /compact returns them.
func said(q *rules.Request) []map[string]any {
	var all []map[string]any
	for _, i := range q.Items {
		if i.Role != "user" {
			continue
		}
		var item map[string]any
		if err := json.Unmarshal(fakeapi.Encode(i.Fields), &item); err == nil {
			all = append(all, item)
		}
	}
	return all
}
