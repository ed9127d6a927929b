package fakeapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// The rules of Chat Completions, each with the words in which the API refuses.

// readChat reads a request and holds it to the rules.
func (p *Provider) readChat(q *request) *Refusal {
	q.maxOutput = int(q.body.Get("max_completion_tokens").Int())
	tools, list := q.body.Get("tools"), q.body.Get("messages").Array()
	switch {
	case q.name == "":
		return wrong("model", "", "you must provide a model parameter")
	case len(list) == 0:
		return wrong("messages", "empty_array", "Invalid 'messages': empty array.")
	case q.maxOutput > q.model.MaxOutput:
		return wrong("max_completion_tokens", "invalid_value", "max_tokens is too large: %d. This model supports at "+
			"most %d completion tokens.", q.maxOutput, q.model.MaxOutput)
	case q.body.Get("tool_choice").Exists() && len(tools.Array()) == 0:
		return wrong("tool_choice", "", "'tool_choice' is only allowed when 'tools' are specified.")
	}
	var open []string // calls that were not answered yet
	for _, m := range list {
		if role := m.Get("role").Str; len(open) > 0 && role != "tool" && role != "function" {
			break
		}
		if refused := checkChatMessage(m, &open); refused != nil {
			return refused
		}
	}
	if len(open) > 0 {
		return wrong("messages", "", "An assistant message with 'tool_calls' must be followed by tool messages "+
			"responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s",
			strings.Join(open, ", "))
	}
	declared := tools.Raw + q.body.Get("functions").Raw
	q.prompt = append(q.prompt, piece{value: normal(declared), tokens: p.options.Count(declared)})
	for _, m := range list {
		text := m.Get("content").Str
		for _, part := range m.Get("content").Array() {
			text += part.Get("text").Str
		}
		tokens := messageTokens + p.options.Count(text+m.Get("tool_calls").Raw+m.Get("function_call").Raw)
		q.prompt = append(q.prompt, piece{value: normal(m.Raw), tokens: tokens})
	}
	return nil
}

// checkChatMessage judges a message behind calls that are open, and opens or closes some.
func checkChatMessage(m gjson.Result, open *[]string) *Refusal {
	role, content, calls := m.Get("role").Str, m.Get("content"), m.Get("tool_calls")
	says := content.Type == gjson.String || len(content.Array()) > 0
	switch role {
	case "system", "developer", "user":
		if !says {
			return wrong("messages", "", "Invalid value for 'content': expected a string, got %s.", content.Type)
		}
	case "assistant":
		if calls.Exists() && len(calls.Array()) == 0 {
			return wrong("messages", "empty_array", "Invalid 'tool_calls': empty array.")
		}
		if name := m.Get("function_call.name"); name.Exists() {
			*open = append(*open, name.Str)
			return nil
		}
		if !says && !calls.Exists() {
			return wrong("messages", "", "Invalid value for 'content': expected a string, got null.")
		}
		for _, call := range calls.Array() {
			arguments := call.Get("function.arguments")
			if arguments.Type != gjson.String || !gjson.Valid(arguments.Str) {
				return wrong("messages", "invalid_type",
					"Invalid type for 'function.arguments': expected JSON in a string.")
			}
			*open = append(*open, call.Get("id").Str)
		}
	case "tool", "function":
		at := slices.Index(*open, cmp.Or(m.Get("tool_call_id").Str, m.Get("name").Str))
		if at < 0 {
			return wrong("messages", "", "Invalid parameter: messages with role 'tool' must be a response to a "+
				"preceeding message with 'tool_calls'.")
		}
		*open = slices.Delete(*open, at, at+1)
	default:
		return wrongValue("messages.role", role)
	}
	return nil
}

// sayChat returns an answer whole.
func (p *Provider) sayChat(q *request, u Usage, parts []Part) object {
	message, reason := object{"role": "assistant", "content": nil, "refusal": nil}, "stop"
	var calls []any
	for _, part := range parts {
		if part.kind == "text" {
			message["content"] = part.text
			continue
		}
		if part.id == "" {
			part.id = p.nextID("call")
		}
		calls = append(calls, object{"id": part.id, "type": "function",
			"function": object{"name": part.name, "arguments": part.text}})
	}
	if calls != nil {
		message["tool_calls"], reason = calls, "tool_calls"
	}
	if q.model.Overflow == EndsAtOnce && u.Input > q.model.Window {
		message["content"], reason = "", "length"
	}
	return object{"id": p.nextID("chatcmpl"), "object": "chat.completion", "created": 1_795_000_000, "model": q.name,
		"choices": []any{object{"index": 0, "message": message, "logprobs": nil, "finish_reason": reason}},
		"usage": object{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"prompt_tokens_details": object{"cached_tokens": u.Read}}}
}

// chatEvents returns an answer as a stream, with its usage where the client asks for that.
func (q *request) chatEvents(whole object) (all []serverEvent) {
	choice := whole["choices"].([]any)[0].(object)
	message := choice["message"].(object)
	add := func(delta object, reason any) {
		one := object{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": reason}
		chunk := with(whole, object{"object": "chat.completion.chunk", "choices": []any{one}, "usage": nil})
		all = append(all, serverEvent{data: chunk})
	}
	add(object{"role": "assistant", "content": ""}, nil)
	if text, ok := message["content"].(string); ok {
		for _, piece := range pieces(text) {
			add(object{"content": piece}, nil)
		}
	}
	calls, _ := message["tool_calls"].([]any)
	for n, raw := range calls {
		call := raw.(object)
		function := call["function"].(object)
		add(object{"tool_calls": []any{with(call, object{"index": n,
			"function": with(function, object{"arguments": ""})})}}, nil)
		for _, piece := range pieces(function["arguments"].(string)) {
			add(object{"tool_calls": []any{object{"index": n, "function": object{"arguments": piece}}}}, nil)
		}
	}
	add(object{}, choice["finish_reason"])
	if q.body.Get("stream_options.include_usage").Bool() {
		usage := with(whole, object{"object": "chat.completion.chunk", "choices": []any{}})
		all = append(all, serverEvent{data: usage})
	}
	return append(all, serverEvent{}) // [DONE]
}
