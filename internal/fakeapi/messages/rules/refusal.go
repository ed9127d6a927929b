package rules

import (
	"fmt"

	"epitome/internal/fakeapi"
)

// A Refusal is an error as the API words it.
type Refusal struct {
	Status  int    // of HTTP; an error event of a stream has none
	Type    string // invalid_request_error and its like
	Message string
	foreign string // the whole body, where a gateway words it; "" for the API's own shape
}

// Error returns status, type and message.
func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Type, r.Message) }

// Body returns the JSON that stands for the refusal, in an answer as in an error event.
func (r *Refusal) Body() []byte {
	if r.foreign != "" {
		return []byte(r.foreign)
	}
	type inner struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return fakeapi.Encode(struct {
		Type  string `json:"type"`
		Error inner  `json:"error"`
	}{"error", inner{r.Type, r.Message}})
}

// Overloaded is the refusal of a server that has too much to do.
func Overloaded() *Refusal {
	return &Refusal{Status: 529, Type: "overloaded_error", Message: "Overloaded"}
}

// Flaw is the refusal of a request that breaks a rule.
func Flaw(format string, args ...any) *Refusal {
	return &Refusal{Status: 400, Type: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
}

// Oversize refuses a body by its bytes.
func Oversize() *Refusal {
	return &Refusal{Status: 413, Type: "request_too_large", Message: "Request exceeds the maximum size"}
}

// An Overflow is the way in which a server tells that the input does not fit its window.
type Overflow int

// What a server says when the input alone is more than the window.
const (
	TooLong        Overflow = iota // 400 "prompt is too long: N tokens > M maximum"
	TooLarge                       // 413 request_too_large
	BedrockModel                   // 400 by Bedrock, with the model's own words
	BedrockInput                   // 400 by Bedrock, with no number
	WrappedByProxy                 // 400 by LiteLLM, with the API's JSON as a text
	RejectedByGate                 // 400 by a gateway: "capability_rejected: prompt_too_long"
	FailsInStream                  // 200, message_start, then an error event; 400 when nothing is streamed
	StopsAtOnce                    // 200 with no content and stop_reason model_context_window_exceeded
)

// refusal is how o words an input of so many tokens; nil when it is served nevertheless.
func (o Overflow) refusal(tokens, window int) *Refusal {
	long := Flaw("prompt is too long: %d tokens > %d maximum", tokens, window)
	switch o {
	case TooLarge:
		return Oversize()
	case BedrockModel:
		long.foreign = string(fakeapi.Encode(map[string]string{
			"message": "The model returned the following errors: " + long.Message}))
	case BedrockInput:
		long.foreign = `{"message":"Input is too long for requested model."}`
	case WrappedByProxy:
		inner := "litellm.ContextWindowExceededError: AnthropicError - " + string(long.Body())
		long.foreign = string(fakeapi.Encode(map[string]any{
			"error": map[string]any{"message": inner, "type": nil, "param": nil, "code": "400"}}))
	case RejectedByGate:
		long.Message = fmt.Sprintf("capability_rejected: prompt_too_long (%d tokens, at most %d)", tokens, window)
	case StopsAtOnce:
		return nil
	}
	return long
}

// CheckWindow judges the size of the input.
func CheckWindow(q *Request, tokens int) *Refusal {
	switch {
	case tokens > q.Model.Window:
		return q.Model.Overflow.refusal(tokens, q.Model.Window)
	case q.Model.SumsOutput && tokens+q.MaxTokens > q.Model.Window:
		return Flaw("input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again",
			tokens, q.MaxTokens, q.Model.Window)
	}
	return nil
}
