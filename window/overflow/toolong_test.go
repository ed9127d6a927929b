package overflow

import (
	"testing"
)

func TestTooLongKnowsWhatProvidersSay(t *testing.T) {
	f := func(want bool, status int, body string) {
		t.Helper()
		if got := TooLong(status, []byte(body)); got != want {
			t.Errorf("%d %q is too long: %v", status, body, got)
		}
	}
	yes, no := true, false
	f(yes, 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 173172 tokens.","code":"context_length_exceeded"}}`)
	f(yes, 400, `{"error":{"message":"Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}`)
	f(yes, 400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again."}}`)
	f(yes, 200, "data: {\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"\"}}")
	f(yes, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200251 tokens > 200000 maximum"}}`)
	f(yes, 400, "{\"message\":\"input length and `max_tokens` exceed context limit: 179413 + 32768 > 200000\"}")
	f(yes, 400, `{"message":"Input is too long for requested model."}`)
	f(yes, 400, `{"error":{"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error"}}`)
	f(yes, 500, `{"error":{"message":"the request exceeds the available context size, try increasing it"}}`)
	f(yes, 400, `{"object":"error","message":"max_tokens must be at least 1, got -186.","type":"BadRequestError"}`)
	f(yes, 400, `{"object":"error","message":"The input (61709 tokens) is longer than the model's context length (40960 tokens)."}`)
	f(yes, 400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096)."}`)
	f(yes, 422, "{\"error\":\"Input validation error: `inputs` must have less than 4096 tokens. Given: 4545\"}")
	f(yes, 400, `[{"error":{"code":400,"message":"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."}}]`)
	f(yes, 400, `{"error":"This model's MAXIMUM PROMPT LENGTH is 131072 but the request contains 136973 tokens."}`)
	f(yes, 413, "")
	f(yes, 413, "<h1>413 Request Entity Too Large</h1>")
	f(yes, 429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 30601.","code":"rate_limit_exceeded"}}`)

	f(no, 400, "")
	f(no, 500, "")
	f(no, 400, `{"error":{"message":"max_completion_tokens must be less than or equal to 40960, the maximum value is less than the context_window for this model"}}`)
	f(no, 400, `{"error":{"message":"max_tokens (384000) exceeds model's maximum output tokens (65536)"}}`)
	f(no, 400, `{"error":{"message":"max_tokens: 10000 > 4096, which is the maximum allowed number of output tokens"}}`)
	f(no, 400, `{"error":{"message":"Invalid 'messages[2].tool_calls': array too long.","code":"array_above_max_length"}}`)
	f(no, 400, `{"error":{"message":"image exceeds 5 MB maximum: 15908784 bytes > 5242880 bytes"}}`)
	f(no, 429, `{"error":{"message":"Rate limit reached on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619."}}`)
	f(no, 429, `{"message":"Too many tokens, please wait before trying again."}`)
	f(no, 529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`)
	for _, status := range []int{401, 402, 403} {
		f(no, status, `{"error":{"message":"You exceeded your quota; maximum context length"}}`)
	}
}
