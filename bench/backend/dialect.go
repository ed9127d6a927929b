package backend

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Dialect is an API that the backend serves.
type Dialect uint8

// The dialects.
const (
	Chat      Dialect = iota // Chat Completions
	Messages                 // Anthropic Messages
	Responses                // OpenAI Responses
)

// Named returns the dialect of a name, as flags have it; without a name it is Chat Completions.
func Named(name string) (Dialect, error) {
	switch name {
	case "", "chat":
		return Chat, nil
	case "messages":
		return Messages, nil
	case "responses":
		return Responses, nil
	}
	return Chat, fmt.Errorf("cannot ask in dialect %.40q: write chat, messages or responses", name)
}

// Path is where its measured requests go.
func (d Dialect) Path() string { return [...]string{ChatPath, "/v1/messages", "/v1/responses"}[d] }

// Body returns a request of exactly size bytes, the same for the same size: a conversation of user messages, tool
// calls and tool results, as a coding agent sends it. size is at least 512 bytes.
func (d Dialect) Body(size int) ([]byte, error) {
	switch d {
	case Messages:
		return conversation(size, messagesHead, bodyTail, messagesFrame)
	case Responses:
		return conversation(size, responsesHead, bodyTail, responsesFrame)
	}
	return ChatBody(size)
}

// dialectOf is that of a request line.
func dialectOf(requestLine string) Dialect {
	_, target, _ := strings.Cut(requestLine, " ")
	target, _, _ = strings.Cut(target, " ")
	target, _, _ = strings.Cut(target, "?")
	for _, d := range [...]Dialect{Messages, Responses} {
		if strings.HasSuffix(target, d.Path()) {
			return d
		}
	}
	return Chat
}

// The heads name the model of bodyHead.
const (
	messagesHead = `{"model":"grok-4-fast","max_tokens":1000,"system":[{"type":"text","text":"You are a careful agent.",` +
		`"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Begin."}`
	responsesHead = `{"model":"grok-4-fast","store":false,"instructions":"You are a careful agent.",` +
		`"input":[{"type":"message","role":"user","content":"Begin."}`
)

// messagesFrame does what messageFrame does.
func messagesFrame(i int) (open, shut string) {
	if i%8 == 0 {
		return `,{"role":"user","content":[{"type":"text","text":"`, `"}]}`
	}
	id := "toolu_" + strconv.Itoa(i)
	return `,{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"read_file","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"`, `"}]}`
}

// responsesFrame does what messageFrame does.
func responsesFrame(i int) (open, shut string) {
	if i%8 == 0 {
		return `,{"type":"message","role":"user","content":[{"type":"input_text","text":"`, `"}]}`
	}
	id := "call_" + strconv.Itoa(i)
	return `,{"type":"function_call","call_id":"` + id + `","name":"read_file","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"` + id + `","output":"`, `"}`
}

// answer returns a whole answer of about 1 KB to a request of so many bytes.
func (d Dialect) answer(request int64) []byte {
	if d == Chat {
		return ChatAnswer(request)
	}
	begin, end := messagesAnswer, messagesUsage
	if d == Responses {
		begin, end = responsesAnswer, responsesUsage
	}
	words := strings.Fields(vocabulary)
	i := 0
	answer := appendProse([]byte(begin), 780, func() string { i++; return words[i%len(words)] })
	return fmt.Appendf(answer, end, request/bytesPerToken)
}

// What stands before and behind the text of an answer.
const (
	messagesAnswer = `{"id":"msg_bench","type":"message","role":"assistant","model":"bench-model",` +
		`"content":[{"type":"text","text":"`
	messagesUsage   = `"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":150}}`
	responsesAnswer = `{"id":"resp_bench","object":"response","status":"completed","model":"bench-model","output":[` +
		`{"type":"message","id":"msg_bench","status":"completed","role":"assistant","content":[` +
		`{"type":"output_text","annotations":[],"text":"`
	responsesUsage = `"}]}],"usage":{"input_tokens":%d,"output_tokens":150}}`
)

// begin and end are what a stream has before and behind its events, as chunks.
func (d Dialect) begin() []byte {
	switch d {
	case Messages:
		return chunk(`event: message_start
data: {"type":"message_start","message":{"id":"msg_bench","type":"message","role":"assistant","model":"bench-model","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

`)
	case Responses:
		return chunk(`event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_bench","object":"response","status":"in_progress","model":"bench-model","output":[],"usage":null}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_bench","status":"in_progress","role":"assistant","content":[]}}

`)
	}
	return nil
}

func (d Dialect) end() []byte {
	const last = "0\r\n\r\n"
	switch d {
	case Messages:
		return append(chunk(`event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":150}}

event: message_stop
data: {"type":"message_stop"}

`), last...)
	case Responses:
		return append(chunk(`event: response.completed
data: {"type":"response.completed","sequence_number":9999,"response":{"id":"resp_bench","object":"response","status":"completed","model":"bench-model","output":[],"usage":{"input_tokens":9,"output_tokens":150}}}

`), last...)
	}
	return append(chunk("data: [DONE]\n\n"), last...)
}

// chunk is a text as one chunk of a body.
func chunk(text string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%x\r\n%s\r\n", len(text), text)
	return b.Bytes()
}

// eventOpen is what stands before the time in an event.
func (d Dialect) eventOpen() string {
	switch d {
	case Messages:
		return "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" token"},"sent":`
	case Responses:
		return "event: response.output_text.delta\n" + `data: {"type":"response.output_text.delta","sequence_number":2,"item_id":"msg_bench","output_index":0,"delta":" token","sent":`
	}
	return eventOpen
}
