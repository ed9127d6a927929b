package fakeapi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// parts is what the model says, without thinking where none is asked for. A model of Messages in manual mode begins
// each turn with thinking.
func (p *Provider) parts(q *request, x Exchange) []Part {
	if q.model.Overflow == EndsAtOnce && x.Tokens > q.model.Window {
		return nil
	}
	all := []Part{Text("Done.")}
	if p.options.Answer != nil {
		all = p.options.Answer(x)
	}
	if !q.thinks {
		all = slices.DeleteFunc(all, func(part Part) bool { return part.kind == "thinking" })
	}
	if q.manual && q.openRound() == nil && (len(all) == 0 || all[0].kind != "thinking") {
		all = append([]Part{Think("The question is clear.")}, all...)
	}
	return all
}

// nextID returns an ID that is not used yet. The same requests in the same order get the same IDs.
func (p *Provider) nextID(prefix string) string {
	p.ids++
	return fmt.Sprintf("%s_%024d", prefix, p.ids)
}

// say returns the answer of these parts whole, and as a stream.
func (p *Provider) say(q *request, x *Exchange, parts []Part) (whole object, events []serverEvent) {
	switch x.API {
	case Chat:
		whole = p.sayChat(q, x.Usage, parts)
		return whole, q.chatEvents(whole)
	case Messages:
		whole = p.sayMessage(q, x.Usage, parts)
		return whole, messageEvents(whole)
	}
	whole = p.sayResponse(q, x.Usage, parts)
	if whole["object"] == "response.compaction" { // never streamed
		return whole, nil
	}
	return whole, responseEvents(whole)
}

// failing is a stream that begins like an answer and ends with a refusal.
func (p *Provider) failing(q *request, x *Exchange) []serverEvent {
	_, events := p.say(q, x, nil)
	switch x.API {
	case Chat:
		return append(events[:1], serverEvent{data: object{"error": x.Refusal.fields()}})
	case Messages:
		why := object{"type": x.Refusal.Type, "message": x.Refusal.Message}
		return append(events[:1], serverEvent{"error", object{"error": why}})
	}
	return append(events[:2], q.failure(x.Refusal, events[0].data["response"].(object)))
}

// pieces cuts a text as streams do.
func pieces(text string) (all []string) {
	const size = 64
	begin := 0
	for i := range text {
		if i-begin >= size {
			all, begin = append(all, text[begin:i]), i
		}
	}
	if begin < len(text) {
		all = append(all, text[begin:])
	}
	return all
}

// sayMessage returns an answer whole, and remembers what the model thinks in it.
func (p *Provider) sayMessage(q *request, u Usage, parts []Part) object {
	id, stop := p.nextID("msg"), "end_turn"
	content, bond, thinks := []any{}, q.bond, 0
	for _, part := range parts {
		if part.kind == "thinking" {
			thinks++
		}
	}
	place := 0
	for _, part := range parts {
		var b object
		switch part.kind {
		case "text":
			b = object{"type": "text", "text": part.text}
		case "thinking":
			place++
			shown := part.text
			if q.hidden {
				shown = ""
			}
			t := thought{model: q.name, answer: id, place: place, of: thinks, text: shown, bond: bond,
				tokens: p.options.Count(part.text)}
			signature := p.sign(t)
			bond.last = signature
			content = append(content, object{"type": "thinking", "thinking": shown, "signature": signature})
			continue
		case "call":
			if part.id == "" {
				part.id = p.nextID("toolu")
			}
			stop = "tool_use"
			p.thinkers[part.id] = len(content) > 0 && parts[0].kind == "thinking"
			b = object{"type": "tool_use", "id": part.id, "name": part.name, "input": gjson.Parse(part.text).Value()}
		}
		bond.pass("assistant", string(encode(b)))
		content = append(content, b)
	}
	if q.model.Overflow == EndsAtOnce && u.Input > q.model.Window {
		stop = "model_context_window_exceeded"
	}
	usage := object{"input_tokens": u.Input - u.Read - u.Written, "cache_read_input_tokens": u.Read,
		"cache_creation_input_tokens": u.Written, "output_tokens": u.Output,
		"cache_creation": object{"ephemeral_5m_input_tokens": u.Written - u.Hour, "ephemeral_1h_input_tokens": u.Hour}}
	return object{"id": id, "type": "message", "role": "assistant", "model": q.name, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage}
}

// messageEvents returns an answer as a stream.
func messageEvents(whole object) []serverEvent {
	start := with(whole, object{"content": []any{}, "stop_reason": nil})
	all := []serverEvent{{"message_start", object{"message": start}}, {"ping", object{}}}
	for i, raw := range whole["content"].([]any) {
		b := raw.(object)
		begun := object{"type": b["type"]}
		var deltas []object
		cut := func(kind, name, text string) {
			for _, piece := range pieces(text) {
				deltas = append(deltas, object{"type": kind, name: piece})
			}
		}
		switch b["type"] {
		case "text":
			begun["text"] = ""
			cut("text_delta", "text", b["text"].(string))
		case "thinking":
			begun["thinking"], begun["signature"] = "", ""
			cut("thinking_delta", "thinking", b["thinking"].(string))
			deltas = append(deltas, object{"type": "signature_delta", "signature": b["signature"]})
		case "tool_use":
			begun["id"], begun["name"], begun["input"] = b["id"], b["name"], object{}
			cut("input_json_delta", "partial_json", string(encode(b["input"])))
		}
		all = append(all, serverEvent{"content_block_start", object{"index": i, "content_block": begun}})
		for _, delta := range deltas {
			all = append(all, serverEvent{"content_block_delta", object{"index": i, "delta": delta}})
		}
		all = append(all, serverEvent{"content_block_stop", object{"index": i}})
	}
	end := object{"delta": object{"stop_reason": whole["stop_reason"], "stop_sequence": nil}, "usage": whole["usage"]}
	return append(all, serverEvent{"message_delta", end}, serverEvent{"message_stop", object{}})
}

// sayResponse returns an answer whole, and remembers what the provider issues in it.
func (p *Provider) sayResponse(q *request, u Usage, parts []Part) object {
	id := p.nextID("resp")
	if q.compacts {
		text := ""
		for _, part := range parts {
			text += part.text
		}
		parts = []Part{{kind: "compaction", text: text}}
	} else if q.compactAt > 0 && u.Input > q.compactAt {
		parts = append([]Part{{kind: "compaction", text: "What was said."}}, parts...)
	}
	output, made := []any{}, []item{}
	for _, part := range parts {
		o := p.sayItem(q, part)
		i, refused := readItem(gjson.ParseBytes(encode(o)), "output")
		if refused != nil {
			panic(refused)
		}
		output, made = append(output, o), append(made, i)
	}
	p.book.issue(q, id, made)
	usage := object{"input_tokens": u.Input, "input_tokens_details": object{"cached_tokens": u.Read, "cache_write_tokens": u.Written},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": u.Input + u.Output}
	whole := object{"id": id, "object": "response", "created_at": 1_795_000_000 + p.ids, "status": "completed",
		"model": q.name, "output": output, "usage": usage, "store": q.stored, "error": nil,
		"incomplete_details": nil, "previous_response_id": nil, "instructions": nil, "metadata": object{},
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "truncation": "disabled",
		"temperature": 1, "top_p": 1, "text": object{"format": object{"type": "text"}},
		"reasoning": object{"effort": nil, "summary": nil}}
	for name := range strings.FieldsSeq("instructions tools tool_choice previous_response_id reasoning text metadata") {
		if v := q.body.Get(name); v.Exists() {
			whole[name] = v.Value()
		}
	}
	if q.model.Overflow == EndsAtOnce && u.Input > q.model.Window {
		whole["status"], whole["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	}
	if q.compacts && q.items[len(q.items)-1].kind != "compaction_trigger" { // of /compact
		whole["object"] = "response.compaction"
		for n, said := range q.users() {
			content := said.Get("content").Value()
			if text, ok := content.(string); ok {
				content = []any{object{"type": "input_text", "text": text}}
			}
			output = slices.Insert(output, n, any(object{"type": "message", "id": p.nextID("msg"), "role": "user",
				"status": "completed", "content": content}))
		}
		whole["output"] = output
	}
	return whole
}

// users are the messages of the user.
func (q *request) users() []item {
	return slices.DeleteFunc(slices.Clone(q.items), func(i item) bool { return i.role != "user" })
}

// sayItem makes an item of an answer.
func (p *Provider) sayItem(q *request, part Part) object {
	if part.id == "" && (part.kind == "call" || part.kind == "custom") {
		part.id = p.nextID("call")
	}
	switch part.kind {
	case "text":
		content := object{"type": "output_text", "text": part.text, "annotations": []any{}, "logprobs": []any{}}
		return object{"type": "message", "id": p.nextID("msg"), "status": "completed", "role": "assistant",
			"content": []any{content}}
	case "thinking":
		o := object{"type": "reasoning", "id": p.nextID("rs"), "summary": []any{}}
		if !isNull(q.body.Get("reasoning.summary")) {
			o["summary"] = []any{object{"type": "summary_text", "text": "**Thinking** " + part.text}}
		}
		if strings.Contains(q.body.Get("include").Raw, "reasoning.encrypted_content") {
			o["encrypted_content"] = p.book.encrypt(q, "reasoning", o["id"].(string), p.options.Count(part.text))
		}
		return o
	case "compaction":
		id := p.nextID("cmp")
		return object{"type": "compaction", "id": id,
			"encrypted_content": p.book.encrypt(q, "compaction", id, p.options.Count(part.text))}
	case "call":
		return object{"type": "function_call", "id": p.nextID("fc"), "status": "completed", "call_id": part.id,
			"name": part.name, "arguments": part.text}
	case "custom":
		return object{"type": "custom_tool_call", "id": p.nextID("ctc"), "status": "completed", "call_id": part.id,
			"name": part.name, "input": part.text}
	}
	return gjson.Parse(part.text).Value().(object)
}

// stream collects events and numbers them.
type stream []serverEvent

func (s *stream) add(kind string, data object) {
	data["sequence_number"] = len(*s)
	*s = append(*s, serverEvent{kind, data})
}

// responseEvents returns an answer as a stream.
func responseEvents(whole object) []serverEvent {
	var s stream
	begun := with(whole, object{"status": "in_progress", "output": []any{}, "usage": nil, "incomplete_details": nil})
	s.add("response.created", object{"response": begun})
	s.add("response.in_progress", object{"response": begun})
	for n, raw := range whole["output"].([]any) {
		s.addItem(n, raw.(object))
	}
	s.add("response."+whole["status"].(string), object{"response": whole})
	return s
}

// with copies an object and sets members.
func with(o object, set object) object {
	all := maps.Clone(o)
	maps.Copy(all, set)
	return all
}

// addItem adds the beginning of an item, its content, and its end.
func (s *stream) addItem(n int, o object) {
	at := object{"item_id": o["id"], "output_index": n}
	// text adds deltas and the end of a text, which is the member called name.
	text := func(kind, name string, more object, value any) {
		for _, piece := range pieces(value.(string)) {
			s.add(kind+".delta", with(with(at, more), object{"delta": piece}))
		}
		s.add(kind+".done", with(with(at, more), object{name: value}))
	}
	open := object{"status": "in_progress"}
	switch o["type"] {
	case "message":
		open["content"] = []any{}
	case "function_call":
		open["arguments"] = ""
	case "custom_tool_call":
		open["input"] = ""
	case "reasoning":
		open = object{"summary": []any{}}
	}
	s.add("response.output_item.added", object{"output_index": n, "item": with(o, open)})
	switch o["type"] {
	case "message":
		part := o["content"].([]any)[0].(object)
		more := object{"content_index": 0, "logprobs": []any{}}
		s.add("response.content_part.added", with(with(at, more), object{"part": with(part, object{"text": ""})}))
		text("response.output_text", "text", more, part["text"])
		s.add("response.content_part.done", with(with(at, more), object{"part": part}))
	case "reasoning":
		for _, raw := range o["summary"].([]any) {
			part, more := raw.(object), object{"summary_index": 0}
			empty := object{"part": with(part, object{"text": ""})}
			s.add("response.reasoning_summary_part.added", with(with(at, more), empty))
			text("response.reasoning_summary_text", "text", more, part["text"])
			s.add("response.reasoning_summary_part.done", with(with(at, more), object{"part": part}))
		}
	case "function_call":
		text("response.function_call_arguments", "arguments", nil, o["arguments"])
	case "custom_tool_call":
		text("response.custom_tool_call_input", "input", nil, o["input"])
	}
	s.add("response.output_item.done", object{"output_index": n, "item": o})
}

// failure is the event that ends a stream with a refusal, behind the two that begin it.
func (q *request) failure(r *Refusal, begun object) serverEvent {
	switch q.model.Overflow {
	case ErrorObject:
		return serverEvent{"error", object{"sequence_number": 2, "error": r.fields()}}
	case ErrorInStream:
		return serverEvent{"error", with(r.fields(), object{"sequence_number": 2})}
	}
	failed := with(begun, object{"status": "failed", "error": object{"code": r.Code, "message": r.Message}})
	return serverEvent{"response.failed", object{"sequence_number": 2, "response": failed}}
}

var heading = regexp.MustCompile(`(?m)^## ([A-Z][A-Za-z ]+)\n\[`)

// Summary is what a model answers when epitome asks for a summary, and "" to any other request.
func Summary(body []byte) string {
	list := gjson.GetBytes(body, "messages").Array()
	list = append(list, gjson.GetBytes(body, "input").Array()...)
	if len(list) == 0 {
		return ""
	}
	content := list[len(list)-1].Get("content")
	if blocks := content.Array(); content.IsArray() && len(blocks) > 0 {
		content = blocks[len(blocks)-1].Get("text")
	}
	var text strings.Builder
	for _, found := range heading.FindAllStringSubmatch(content.Str, -1) {
		fmt.Fprintf(&text, "## %s\n- A model's words on it.\n", found[1])
	}
	return text.String()
}
