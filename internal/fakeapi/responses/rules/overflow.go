package rules

import (
	"fmt"

	"epitome/internal/fakeapi"
)

// An Overflow is the way in which a server tells that the input does not fit its window.
type Overflow int

// What a server says when the input alone is more than the window.
const (
	TooLong           Overflow = iota // 400 context_length_exceeded
	TooLarge                          // 413
	WrappedByProxy                    // 400 by LiteLLM, with the API's words in its own
	SaidByLlama                       // 400 by llama.cpp, with both numbers
	SaidByVLLM                        // 400 by vLLM, with both numbers
	FailsInStream                     // 200, response.created, then response.failed; 400 when nothing is streamed
	FailsWithoutWords                 // the same with an empty message
	ErrorInStream                     // 200, response.created, then an error event; 400 when nothing is streamed
	ErrorObject                       // the same with the error as an object in the event
	EndsAtOnce                        // 200 with no output and status incomplete, reason max_output_tokens
)

// Streams tells whether o comes within a stream, if what was asked for is one.
func (o Overflow) Streams() bool { return o >= FailsInStream && o <= ErrorObject }

// refusal is how o words an input of so many tokens; nil when it is served nevertheless.
func (o Overflow) refusal(tokens, window int) *Refusal {
	long := Flaw("input", "context_length_exceeded",
		"Your input exceeds the context window of this model. Please adjust your input and try again.")
	switch o {
	case TooLarge:
		return Oversize()
	case WrappedByProxy:
		long.foreign = string(fakeapi.Encode(map[string]any{"error": map[string]any{
			"message": "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - " +
				long.Message,
			"type": nil, "param": nil, "code": "400"}}))
	case SaidByLlama:
		long.foreign = fmt.Sprintf(`{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size `+
			`(%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`,
			tokens, window, tokens, window)
	case SaidByVLLM:
		long.foreign = fmt.Sprintf(`{"error":{"message":"This model's maximum context length is %d tokens. However, your `+
			`request has %d input tokens. Please reduce the length of the input messages.","type":"BadRequestError",`+
			`"param":null,"code":400}}`, window, tokens)
	case FailsWithoutWords:
		long.Message = ""
	case EndsAtOnce:
		return nil
	}
	return long
}

// CheckWindow judges the size of the input.
func CheckWindow(q *Request, tokens int) *Refusal {
	m := q.Model
	switch {
	case tokens > m.Window && !q.Truncates:
		return m.Overflow.refusal(tokens, m.Window)
	case m.SumsOutput && q.MaxOutput > 0 && tokens+q.MaxOutput > m.Window:
		return Flaw("input", "context_length_exceeded",
			"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the "+
				"completion). Please reduce the length of the messages or completion.",
			m.Window, tokens+q.MaxOutput, tokens, q.MaxOutput)
	}
	return nil
}
