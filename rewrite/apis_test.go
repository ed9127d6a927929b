package rewrite_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"epitome/internal/fakeapi"
)

// api is one of the three APIs: how its clients write requests, and what its server refuses.
type api interface {
	models() []string
	// members returns the names of the member that holds the conversation, and of the one that holds the system prompt.
	members() (list, system string)
	// body returns a request with a list of messages.
	body(c *talk, list string) string
	user(p pen, text string) object
	answer(a answer) []object
	results(p pen, calls []call) []object
	// refusal returns the error of a strict server that has answered the requests up to this one, as its client has it.
	refusal(body, request []byte) error
}

var apis = map[string]api{"chat": chatAPI{}, "messages": messagesAPI{}, "responses": responsesAPI{}}

const picture = "iVBORw0KGgo="

// chatAPI is Chat Completions.
type chatAPI struct{}

func (chatAPI) models() []string        { return []string{"gpt-5", "gpt-4o"} }
func (chatAPI) members() (_, _ string)  { return "messages", "" }
func (chatAPI) part(text string) object { return object{"type": "text", "text": text} }

func (chatAPI) picture() object {
	return object{"type": "image_url", "image_url": object{"url": "data:image/png;base64," + picture}}
}

func (chatAPI) body(c *talk, list string) string {
	if c.system != "" {
		list = `{"role":"system","content":` + quoted(c.system) + "}, " + list
	}
	tools := c.toolList(`{"type":"function","function":{"name":%q,"parameters":{"type":"object"}}}`)
	return `{"model":"` + c.model + `", ` + tools + `"messages" : [` + list + "],\n\"temperature\":1e-1" + c.cached() + "}\n"
}

func (a chatAPI) user(p pen, text string) object {
	m := object{"role": "user", "content": p.content(text, a.part, a.picture())}
	if p.in(8) {
		m["x_unknown"] = json.RawMessage(`[1.50e3, {"b":"ü\u00fc"}]`)
	}
	if p.in(8) {
		m["name"] = "bot"
	}
	return m
}

func (chatAPI) answer(a answer) []object {
	m := object{"role": "assistant", "content": nil}
	if a.text != "" {
		m["content"] = a.text
	}
	if a.thought != "" {
		m["reasoning_content"] = a.thought
	}
	var calls []any
	for _, c := range a.calls {
		function := object{"name": c.tool, "arguments": c.arguments}
		calls = append(calls, object{"id": c.id, "type": "function", "function": function})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return []object{m}
}

func (a chatAPI) results(p pen, calls []call) (list []object) {
	for _, c := range calls {
		content := p.content(c.result, a.part, a.picture())
		list = append(list, object{"role": "tool", "tool_call_id": c.id, "content": content})
	}
	return list
}

func (chatAPI) refusal(body, request []byte) error { return fakeapi.Judge(fakeapi.Chat, body, request) }

// messagesAPI is Anthropic Messages.
type messagesAPI struct{}

// marker marks the end of what the provider is to cache.
const marker = `,"cache_control":{"type":"ephemeral"}`

func (messagesAPI) models() []string        { return []string{"claude-opus-5-5", "claude-sonnet-4"} }
func (messagesAPI) members() (_, _ string)  { return "messages", "system" }
func (messagesAPI) part(text string) object { return object{"type": "text", "text": text} }

func (messagesAPI) picture() object {
	return object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": picture}}
}

func (messagesAPI) body(c *talk, list string) string {
	if before, ok := strings.CutSuffix(list, "}]}"); ok { // the mark stands at the last block
		list = before + marker + "}]}"
	}
	system := ""
	if c.system != "" {
		system = `"system":[{"type":"text","text":` + quoted(c.system) + marker + `}],`
	}
	tools := c.toolList(`{"name":%q,"input_schema":{"type":"object"}}`)
	return `{"model":"` + c.model + `",` + tools + system + ` "messages" : [` + list + "],\"max_tokens\":1000}\n"
}

func (a messagesAPI) user(p pen, text string) object {
	content := p.content(text, a.part, a.picture())
	if p.in(4) {
		content = []any{a.part("<system-reminder>It rains.</system-reminder>"), a.part(text)}
	}
	return object{"role": "user", "content": content}
}

func (a messagesAPI) answer(said answer) []object {
	var blocks []any
	if said.thought != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": said.thought, "signature": "signed: " +
			said.thought})
	}
	if said.text != "" {
		blocks = append(blocks, a.part(said.text))
	}
	for _, c := range said.calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.id, "name": c.tool,
			"input": json.RawMessage(c.arguments)})
	}
	return []object{{"role": "assistant", "content": blocks}}
}

func (a messagesAPI) results(p pen, calls []call) []object {
	var blocks []any
	for _, c := range calls {
		block := object{"type": "tool_result", "tool_use_id": c.id, "content": p.content(c.result, a.part, a.picture())}
		if p.in(20) {
			block["content"] = []any{object{"type": "tool_reference", "tool_name": "more"}}
		}
		if p.in(3) {
			block["is_error"] = p.in(2)
		}
		blocks = append(blocks, block)
	}
	if p.in(4) {
		blocks = append(blocks, a.part("<system-reminder>It snows.</system-reminder>"))
	}
	if len(calls) > 1 && p.in(6) { // the server makes one message of two
		return []object{{"role": "user", "content": blocks[:1]}, {"role": "user", "content": blocks[1:]}}
	}
	return []object{{"role": "user", "content": blocks}}
}

func (messagesAPI) refusal(body, request []byte) error {
	return fakeapi.Judge(fakeapi.Messages, body, request)
}

// responsesAPI is OpenAI Responses.
type responsesAPI struct{}

func (responsesAPI) models() []string        { return []string{"gpt-5", "gpt-5.6"} }
func (responsesAPI) members() (_, _ string)  { return "input", "instructions" }
func (responsesAPI) part(text string) object { return object{"type": "input_text", "text": text} }

func (responsesAPI) picture() object {
	return object{"type": "input_image", "image_url": "data:image/png;base64," + picture}
}

func (responsesAPI) body(c *talk, list string) string {
	system := ""
	if c.system != "" {
		system = `"instructions":` + quoted(c.system) + `, `
	}
	tools := c.toolList(`{"type":"function","name":%q,"parameters":{"type":"object"}}`)
	return `{"model":"` + c.model + `", ` + tools + system + `"input" : [` + list + "], \"store\":false" + c.cached() + "}\n"
}

func (a responsesAPI) user(p pen, text string) object {
	content := p.content(text, a.part, a.picture())
	if p.in(4) {
		content = []any{a.part("<environment_context>Here.</environment_context>"), a.part(text)}
	}
	return object{"type": "message", "role": "user", "content": content}
}

func (responsesAPI) answer(a answer) (list []object) {
	if a.thought != "" {
		id := fmt.Sprintf("%x", hashOf(a.thought))[:24]
		list = append(list, object{"type": "reasoning", "id": "rs_" + id, "summary": []any{},
			"encrypted_content": "gAAAA" + id})
	}
	if a.text != "" {
		part := object{"type": "output_text", "text": a.text, "annotations": []any{}}
		list = append(list, object{"type": "message", "role": "assistant", "status": "completed",
			"content": []any{part},
			"id":      fmt.Sprintf("msg_%x", hashOf(a.thought, a.text, fmt.Sprint(a.calls)))[:28]})
	}
	for _, c := range a.calls {
		item := object{"type": itemOf(c), "id": "fc_" + c.id, "call_id": c.id}
		switch itemOf(c) {
		case "custom_tool_call":
			item["id"], item["name"], item["input"] = "ctc_"+c.id, c.tool, c.arguments
		case "local_shell_call":
			item["id"], item["status"] = "ls_"+c.id, "completed"
			item["action"] = object{"type": "exec", "command": []any{"make"}, "env": object{}}
		default:
			item["name"], item["arguments"] = c.tool, c.arguments
		}
		list = append(list, item)
	}
	return list
}

// itemOf returns the type of the item that makes a call; the type of its result begins with the same.
func itemOf(c call) string {
	switch c.tool {
	case "apply_patch":
		return "custom_tool_call"
	case "local_shell":
		return "local_shell_call"
	}
	return "function_call"
}

func (a responsesAPI) results(p pen, calls []call) (list []object) {
	for _, c := range calls {
		item := object{"type": itemOf(c) + "_output", "call_id": c.id,
			"output": p.content(c.result, a.part, a.picture())}
		if itemOf(c) == "local_shell_call" {
			item = object{"type": "local_shell_call_output", "id": c.id, "output": quoted(c.result)}
		}
		list = append(list, item)
	}
	return list
}

func (responsesAPI) refusal(body, request []byte) error {
	return fakeapi.Judge(fakeapi.Responses, body, request)
}
