package load

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// vocabulary gives bodies the letter mix of agent traffic; every word is plain ASCII without characters that JSON
// escapes.
const vocabulary = "func return error build test file line read write value index buffer request answer stream token " +
	"model window header parse check commit branch merge import package struct pointer array string number"

const (
	// bodyHead names a model with a window of two million tokens. A proxy that shortens what comes near the window
	// leaves even the largest body alone: what is measured is forwarding.
	bodyHead = `{"model":"grok-4-fast","messages":[{"role":"system","content":"You are a careful agent."}`
	bodyTail = `]}`
	// messageBytes bounds one message's content, in bytes.
	messageBytes = 1500
)

// ChatBody returns a Chat Completions request of exactly size bytes, the same for the same size: a conversation of user
// messages, tool calls and tool results, as a coding agent sends it. size is at least 512 bytes.
func ChatBody(size int) ([]byte, error) {
	if size < 512 {
		return nil, fmt.Errorf("cannot make body of %d bytes: want at least 512", size)
	}
	rng := rand.New(rand.NewPCG(1, uint64(size)))
	words := strings.Fields(vocabulary)
	body := append(make([]byte, 0, size), bodyHead...)
	for call := 0; ; call++ {
		open, shut := messageFrame(call)
		room := size - len(body) - len(open) - len(shut) - len(bodyTail)
		length := min(room, messageBytes)
		// A rest too small for one more message goes into this one.
		if room-length < 2*len(open)+messageBytes/4 {
			length = room
		}
		body = append(body, open...)
		body = appendProse(body, length, func() string { return words[rng.IntN(len(words))] })
		body = append(body, shut...)
		if length == room {
			return append(body, bodyTail...), nil
		}
	}
}

// messageFrame returns the JSON before and after the prose of message number i: a user message first, then calls with
// their results, then a user message again after a while.
func messageFrame(i int) (open, shut string) {
	if i%8 == 0 {
		return `,{"role":"user","content":"`, `"}`
	}
	id := "call_" + strconv.Itoa(i)
	return `,{"role":"assistant","content":null,"tool_calls":[{"id":"` + id +
		`","type":"function","function":{"name":"read_file","arguments":"{}"}}]},{"role":"tool","tool_call_id":"` + id +
		`","content":"`, `"}`
}

// appendProse appends exactly n bytes of words, each followed by a blank, the last one cut.
func appendProse(dst []byte, n int, next func() string) []byte {
	end := len(dst) + n
	for len(dst) < end {
		dst = append(append(dst, next()...), ' ')
	}
	return dst[:end]
}

// bytesPerToken is a little less than what a token of ChatBody takes, so that no count falls short of what was sent: a
// provider that counts far too few tokens has cut the request, and a proxy may act on that.
const bytesPerToken = 5

// ChatAnswer returns a whole chat.completion answer of about 1 KB to a request of so many bytes.
func ChatAnswer(request int64) []byte {
	answer := []byte(`{"id":"chatcmpl-bench","object":"chat.completion","created":1700000000,"model":"bench-model",` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":"`)
	words := strings.Fields(vocabulary)
	i := 0
	answer = appendProse(answer, 780, func() string { i++; return words[i%len(words)] })
	prompt := request / bytesPerToken
	return fmt.Appendf(answer, `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":150,"total_tokens":%d}}`, prompt, prompt+150)
}
