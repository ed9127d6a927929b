package load

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// words give bodies the letter mix of agent traffic. JSON escapes none of their characters.
var words = strings.Fields("func return error build test file line read write value index buffer request answer " +
	"stream token model window header parse check commit branch merge import package struct pointer array string")

// chatBody returns a Chat Completions request of size bytes, at least 2,048, the same for the same size: a system
// message, tool calls with their results, and a user message. It names a model with a window of two million tokens, so
// that epitome leaves even the largest body alone.
func chatBody(size int) []byte {
	dice := rand.New(rand.NewPCG(1, uint64(size)))
	const (
		head   = `{"model":"grok-4-fast","messages":[{"role":"system","content":"You are a careful agent."}`
		user   = `,{"role":"user","content":"`
		end    = `"}]}`
		result = 1500 // bytes of text in a tool result
	)
	body := append(make([]byte, 0, size), head...)
	for call := 0; size-len(body) > 2*result; call++ {
		body = fmt.Appendf(body, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function",`+
			`"function":{"name":"read_file","arguments":"{}"}}]},`+
			`{"role":"tool","tool_call_id":"call_%d","content":"`, call, call)
		body = append(appendProse(body, dice, result), `"}`...)
	}
	body = append(body, user...)
	return append(appendProse(body, dice, size-len(body)-len(end)), end...)
}

// appendProse appends n bytes of words.
func appendProse(to []byte, dice *rand.Rand, n int) []byte {
	end := len(to) + n
	for len(to) < end {
		to = append(append(to, words[dice.IntN(len(words))]...), ' ')
	}
	return to[:end]
}

// chatAnswer returns a response of about 1 KB to a request of so many bytes. Its count of the request's tokens is not
// lower than the true one, as epitome would take the provider for one that cuts requests.
func chatAnswer(request int) []byte {
	const bytesPerToken = 5
	prompt := request / bytesPerToken
	return fmt.Appendf(nil, `{"id":"chatcmpl-bench","object":"chat.completion","model":"bench-model",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":%d,"completion_tokens":150,"total_tokens":%d}}`,
		strings.Repeat(strings.Join(words, " "), 4), prompt, prompt+150)
}
