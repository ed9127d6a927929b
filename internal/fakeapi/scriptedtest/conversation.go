package scriptedtest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ResultText is what the k-th call of a script's conversation gave: some 15 000 tokens in 1 500 lines, with what
// tells it from others.
func ResultText(k int) string {
	var b strings.Builder
	for line := 1; line <= 1500; line++ {
		fmt.Fprintf(&b, "row %d of table_%d: value %d\n", line, k, line*line+k)
	}
	return b.String()
}

// MessagesConversation is the same as Conversation for Anthropic Messages, with a mark for the cache at its end.
func MessagesConversation(calls int) []byte {
	type object = map[string]any
	mark := object{"type": "ephemeral"}
	messages := []object{{"role": "user", "content": []object{{"type": "text", "text": "Look at the tables."}}}}
	for k := 1; k <= calls; k++ {
		id := fmt.Sprintf("toolu_%d", k)
		messages = append(messages,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": "query",
				"input": object{"table": fmt.Sprintf("table_%d", k)}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": ResultText(k)}}})
	}
	last, _ := messages[len(messages)-1]["content"].([]object)
	last[0]["cache_control"] = mark
	body, err := json.Marshal(object{"model": "m", "max_tokens": 1000, "messages": messages,
		"system": []object{{"type": "text", "text": "You look things up.", "cache_control": mark}},
		"tools":  []object{{"name": "query", "input_schema": object{"type": "object"}}}})
	if err != nil {
		panic(err)
	}
	return body
}

// ResponsesConversation is a request of OpenAI Responses with so many calls and their results.
func ResponsesConversation(calls int) []byte {
	type object = map[string]any
	input := []object{{"role": "user", "content": "Look at the tables."}}
	for k := 1; k <= calls; k++ {
		id := fmt.Sprintf("call_%d", k)
		input = append(input,
			object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", k), "summary": []object{}, "encrypted_content": "gAAAAsealed"},
			object{"type": "function_call", "id": fmt.Sprintf("fc_%d", k), "call_id": id, "name": "query",
				"arguments": fmt.Sprintf(`{"table":"table_%d"}`, k)},
			object{"type": "function_call_output", "call_id": id, "output": ResultText(k)})
	}
	body, err := json.Marshal(object{"model": "m", "instructions": "You look things up.", "input": input, "store": false})
	if err != nil {
		panic(err)
	}
	return body
}

// Conversation is a request with so many calls and their results.
func Conversation(calls int) []byte {
	type object = map[string]any
	messages := []object{{"role": "system", "content": "You look things up."}, {"role": "user", "content": "Look at the tables."}}
	for k := 1; k <= calls; k++ {
		id := fmt.Sprintf("call_%d", k)
		messages = append(messages,
			object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function",
				"function": object{"name": "query", "arguments": fmt.Sprintf(`{"table":"table_%d"}`, k)}}}},
			object{"role": "tool", "tool_call_id": id, "content": ResultText(k)})
	}
	body, err := json.Marshal(object{"model": "m", "messages": messages})
	if err != nil {
		panic(err)
	}
	return body
}
