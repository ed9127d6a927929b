package fakeapi

import (
	"fmt"
	"net/http"
	"strings"
)

// A Model is what a provider does for one model.
type Model struct {
	Window    int // tokens of the input
	MaxOutput int // tokens; a request for more is refused
	Overflow  Overflow
	Minimum   int // tokens of the shortest prefix that Messages caches

	Manual        bool // thinking with a budget is served
	Adaptive      bool // thinking without one is served
	Thinks        bool // the model thinks unless the request says otherwise
	Hides         bool // the text of thinking is hidden unless the request says otherwise
	Binds         bool // thinking is bound to all that stands before it
	Prefill       bool // the last message may be the assistant's
	InlineSystem  bool // messages may have the role system
	SystemUnbound bool // thinking is not bound to such messages
}

// newest is a Claude model that binds its thinking.
var newest = Model{Window: 1_000_000, MaxOutput: 128_000, Minimum: 512, Adaptive: true, Thinks: true, Hides: true,
	Binds: true, InlineSystem: true}

// models are known by the beginning of their names; the first that matches counts. As of November 2026.
var models = []struct {
	prefixes string
	model    Model
}{
	{"claude-fable-5-1 claude-fable-5-2 claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5", newest},
	{"claude-opus-5 claude-fable-5 claude-opus-4-8", Model{Window: 1_000_000, MaxOutput: 128_000, Minimum: 512,
		Adaptive: true, Thinks: true, Hides: true, InlineSystem: true}},
	{"claude-opus-4-6 claude-sonnet-4-6", Model{Window: 200_000, MaxOutput: 64_000, Minimum: 1024,
		Manual: true, Adaptive: true}},
	{"claude-", Model{Window: 200_000, MaxOutput: 64_000, Minimum: 1024, Manual: true, Prefill: true}},
	{"gpt- o", Model{Window: 272_000, MaxOutput: 128_000, Thinks: true}},
}

// ModelOf returns what the APIs do for a model. One with an unknown name is served all that others are, and binds
// nothing.
func ModelOf(name string) Model {
	for _, m := range models {
		for prefix := range strings.FieldsSeq(m.prefixes) {
			if strings.HasPrefix(name, prefix) {
				return m.model
			}
		}
	}
	return Model{Window: 200_000, MaxOutput: 128_000, Minimum: 1024, Manual: true, Adaptive: true, Prefill: true,
		InlineSystem: true}
}

func (p *Provider) modelOf(name string) Model {
	if m, ok := p.options.Models[name]; ok {
		return m
	}
	return ModelOf(name)
}

// An Overflow is the way in which a provider says that the input exceeds the window.
type Overflow int

// Ways of telling, each seen of a provider or a gateway.
const (
	SaysTooLong       Overflow = iota // 400 in the API's words
	TooLarge                          // 413
	SaysBedrock                       // 400 of Bedrock, without a number
	SaysLiteLLM                       // 400 with the API's words within LiteLLM's
	SaysGateway                       // 400 capability_rejected: prompt_too_long
	SaysLlama                         // 400 of llama.cpp
	SaysVLLM                          // 400 of vLLM
	FailsInStream                     // 200, the beginning of a stream, and then the error; 400 without a stream
	FailsWithoutWords                 // the same with an empty message
	ErrorInStream                     // the same as an error event (Responses)
	ErrorObject                       // the same with an object in that event (Responses)
	EndsAtOnce                        // 200 with no content, cut by the window
	CountsOutput                      // input and max_tokens together must fit
)

func (o Overflow) streams() bool { return o >= FailsInStream && o <= ErrorObject }

// checkWindow refuses an input that exceeds the window.
func (q *request) checkWindow(api API) *Refusal {
	tokens, window := q.tokens(), q.model.Window
	refused := flaw("prompt is too long: %d tokens > %d maximum", tokens, window)
	switch api {
	case Chat:
		refused = wrong("messages", "context_length_exceeded", "This model's maximum context length is %d tokens. "+
			"However, your messages resulted in %d tokens. Please reduce the length of the messages.", window, tokens)
	case Responses:
		refused = wrong("input", "context_length_exceeded", "Your input exceeds the context window of this model. "+
			"Please adjust your input and try again.")
	}
	if q.model.Overflow == CountsOutput && tokens+q.maxOutput > window {
		refused.Message = fmt.Sprintf("input length and `max_tokens` exceed context limit: %d + %d > %d, "+
			"decrease input length or `max_tokens` and try again", tokens, q.maxOutput, window)
		return refused
	}
	if tokens <= window {
		return nil
	}
	switch q.model.Overflow {
	case TooLarge:
		return &Refusal{Status: http.StatusRequestEntityTooLarge, Type: "request_too_large",
			Message: "Request exceeds the maximum size"}
	case SaysBedrock:
		refused.foreign = `{"message":"Input is too long for requested model."}`
	case SaysLiteLLM:
		inner := "litellm.ContextWindowExceededError: AnthropicError - " + string(refused.body(api))
		if api != Messages {
			inner = "litellm.ContextWindowExceededError: OpenAIException - " + refused.Message
		}
		why := object{"message": inner, "type": nil, "param": nil, "code": "400"}
		refused.foreign = string(encode(object{"error": why}))
	case SaysGateway:
		refused.Message = fmt.Sprintf("capability_rejected: prompt_too_long (%d tokens, at most %d)", tokens, window)
	case SaysLlama:
		refused.foreign = fmt.Sprintf(`{"error":{"code":400,"message":"request (%d tokens) exceeds the available `+
			`context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,`+
			`"n_ctx":%d}}`, tokens, window, tokens, window)
	case SaysVLLM:
		refused.foreign = fmt.Sprintf(`{"error":{"message":"This model's maximum context length is %d tokens. `+
			`However, your request has %d input tokens. Please reduce the length of the input messages.",`+
			`"type":"BadRequestError","param":null,"code":400}}`, window, tokens)
	case FailsWithoutWords:
		refused.Message = ""
	case EndsAtOnce:
		return nil
	}
	return refused
}
