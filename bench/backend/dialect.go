package backend

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Dialect is an API that the backend serves. The zero value is Chat Completions.
type Dialect struct{ messages bool }

// Messages is Anthropic Messages.
var Messages = Dialect{messages: true}

// Path is where its measured requests go.
func (d Dialect) Path() string {
	if d.messages {
		return "/v1/messages"
	}
	return ChatPath
}

// Body returns a request of exactly size bytes, the same for the same size: a conversation of user messages, tool
// calls and tool results, as a coding agent sends it. size is at least 512 bytes.
func (d Dialect) Body(size int) ([]byte, error) {
	if !d.messages {
		return ChatBody(size)
	}
	return conversation(size, messagesHead, bodyTail, messagesFrame)
}

// dialectOf is that of a request line.
func dialectOf(requestLine string) Dialect {
	_, target, _ := strings.Cut(requestLine, " ")
	target, _, _ = strings.Cut(target, " ")
	target, _, _ = strings.Cut(target, "?")
	return Dialect{messages: strings.HasSuffix(target, Messages.Path())}
}

// messagesHead names the model of bodyHead.
const messagesHead = `{"model":"grok-4-fast","max_tokens":1000,"system":[{"type":"text","text":"You are a careful agent.",` +
	`"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Begin."}`

// messagesFrame does what messageFrame does.
func messagesFrame(i int) (open, shut string) {
	if i%8 == 0 {
		return `,{"role":"user","content":[{"type":"text","text":"`, `"}]}`
	}
	id := "toolu_" + strconv.Itoa(i)
	return `,{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"read_file","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"`, `"}]}`
}

// answer returns a whole answer of about 1 KB to a request of so many bytes.
func (d Dialect) answer(request int64) []byte {
	if !d.messages {
		return ChatAnswer(request)
	}
	answer := []byte(`{"id":"msg_bench","type":"message","role":"assistant","model":"bench-model",` +
		`"content":[{"type":"text","text":"`)
	words := strings.Fields(vocabulary)
	i := 0
	answer = appendProse(answer, 780, func() string { i++; return words[i%len(words)] })
	return fmt.Appendf(answer, `"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":150}}`,
		request/bytesPerToken)
}

// begin and end are what a stream has before and behind its events, as chunks.
func (d Dialect) begin() []byte {
	if !d.messages {
		return nil
	}
	return chunk(`event: message_start
data: {"type":"message_start","message":{"id":"msg_bench","type":"message","role":"assistant","model":"bench-model","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

`)
}

func (d Dialect) end() []byte {
	const last = "0\r\n\r\n"
	if !d.messages {
		return append(chunk("data: [DONE]\n\n"), last...)
	}
	return append(chunk(`event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":150}}

event: message_stop
data: {"type":"message_stop"}

`), last...)
}

// chunk is a text as one chunk of a body.
func chunk(text string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%x\r\n%s\r\n", len(text), text)
	return b.Bytes()
}

// eventOpen is what stands before the time in an event.
func (d Dialect) eventOpen() string {
	if d.messages {
		return "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" token"},"sent":`
	}
	return eventOpen
}
