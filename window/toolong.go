package window

import "bytes"

// TooLong reports whether an answer says that its request was longer than the model takes, or than the provider ever will. What
// asks for patience or money, and what complains of the output's cap alone, says something else. It looks for the phrases of
// known providers; an answer that says it in other words, or with none, is not recognised.
func TooLong(status int, body []byte) bool {
	switch status {
	case 413:
		return true
	case 401, 402, 403, 529:
		return false
	}
	text := bytes.ToLower(body)
	if status == 429 { // a request that is larger than what is granted for a minute will not pass later either
		return bytes.Contains(text, []byte("request too large"))
	}
	for _, phrase := range phrases {
		if bytes.Contains(text, []byte(phrase)) {
			return true
		}
	}
	return false
}

// phrases are what only a request that is too long is told, in lower case.
var phrases = [...]string{
	"context_length_exceeded", "exceed_context_size", "context_window_exceeded", "contextwindowexceeded",
	"maximum context length", "maximum prompt length", "available context size", "exceeds the maximum number of tokens",
	"exceeds the context window", "context window exceeds", "context window is full", "exceed context limit",
	"exceeds the context length", "than the model's context length", "than the context length", "exceeded model token limit",
	"prompt is too long", "prompt too long", "prompt exceeds max length", "input is too long", "input too long",
	"range of input length", "`inputs` must have less than", "`inputs` tokens + `max_new_tokens` must be",
	"max_tokens must be at least 1, got -", // what was left of the window is below nothing
}
