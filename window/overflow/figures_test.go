package overflow

import (
	"testing"
)

// said reads the text as the message of a refusal.
func said(text string, s Sent) Verdict {
	return Read(Answer{Status: 400, Body: []byte(`{"error":{"message":` + quoted(text) + `}}`)}, s)
}

func TestNumbersHaveTheirParts(t *testing.T) {
	f := func(window, requested int, text string) {
		t.Helper()
		v := said(text, Sent{Tokens: 1, Window: 20_000_000})
		if v.Kind != Input && v.Kind != Output || v.Window != window || v.Requested != requested {
			t.Errorf("%s\n\tis %v, window %d, request %d; want %d, %d", text, v.Kind, v.Window, v.Requested, window, requested)
		}
	}
	f(128_000, 130_000, "maximum context length is 128000 tokens, however your messages resulted in 130000 tokens")
	f(128_000, 130_000, "maximum context length is 128,000 tokens, however your messages resulted in 130,000 tokens")
	f(128_000, 130_500, "maximum context length is 128k tokens, however your messages resulted in 130.5k tokens")
	f(1_000_000, 1_200_000, "the context of 1M tokens is exceeded by your prompt of 1.2M tokens")
	f(4_096, 4_106, "maximum context length is 4096 tokens, your messages resulted in 4106 tokens (4054 in the messages, 52 in the functions)")
	f(200_000, 200_251, "prompt is too long: 200251 tokens > 200000 maximum")
	f(200_000, 210_000, "input and max_tokens exceed the context limit: 180000 + 30000 > 200000")
	f(131_072, 136_973, "maximum prompt length is 131072 but the request contains 136973 tokens")
	f(262_144, 269_030, "request exceeded model token limit: 262144 (requested: 269030)")
	f(32_768, 40_110, "Prompt contains 40110 tokens and 0 draft tokens, too large for model with 32768 maximum context length")
	f(32_768, 41_088, "length of prompt_tokens (41088) must be less than max_seq_len (32768).")
	f(1_048_576, 1_200_293, "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).")
	f(6_000, 0, "Range of input length should be [1, 6000]")
	f(40_000, 42_328, "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000")
	f(4_096, 4_545, "`inputs` must have less than 4096 tokens. Given: 4545")
	f(131_072, 140_000, "输入过长：共 140000 tokens，超过上下文上限 131072 tokens")

	// Of several limits the one that was broken.
	f(272_000, 285_000, "the context length is 400000 tokens and the input limit 272000 tokens; your input has 285000 tokens")
	f(40_960, 40_961, "You passed 40961 input tokens. However, the context length is only 40960 tokens, so the maximum input length is 36864 tokens.")
}

// What these numbers are not is what rules got wrong elsewhere.
func TestNumbersThatAreNoWindow(t *testing.T) {
	f := func(kind Kind, window, requested int, text string) {
		t.Helper()
		v := said(text, Sent{Tokens: 190_000, Window: 200_000})
		if v.Kind != kind || v.Window != window || v.Requested != requested {
			t.Errorf("%s\n\tis %v (%s), window %d, request %d; want %v, %d, %d", text, v.Kind, v.Why, v.Window, v.Requested, kind, window, requested)
		}
	}
	f(Input, 0, 8, "maximum context length is 3 tokens. However, your request has 8 input tokens.")
	f(Input, 0, 302, "request (302 tokens) exceeds the available context size (256 tokens)")
	f(Input, 0, 250_000, "maximum context length is 200000 tokens, you sent 250000 tokens") // which was believed
	f(Input, 0, 250_000, "maximum context length is 230000 tokens, you sent 250000 tokens") // a larger one is no news
	f(Input, 0, 99_000_000, "maximum context length is 20000000 tokens, you sent 99000000 tokens")
	f(Input, 0, 0, "invalid params, context window exceeds limit (2013)")                      // a code
	f(Input, 131_072, 0, "the context window exceeds its limit (131072)")                      // no code
	f(Input, 0, 140_000, "error 2013: the prompt of 140000 tokens is too long")                // a code
	f(Input, 0, 0, "prompt too long, exceeded the context length by 12345 tokens")             // an excess
	f(Input, 4_096, 13_055, "tokens to keep exceed the context (n_keep: 13055>= n_ctx: 4096)") // what is kept
	f(Input, 0, 0, "the prompt at messages[1024] is too long for claude-3-5-sonnet-20240620")  // an index, a date
	f(Input, 8_000, 0, "Request body too large for gpt-4o. Max size: 8000 tokens.")            // of an account, but it holds
	f(Rate, 0, 14_137, "Request too large on tokens per minute (TPM): Limit 12000, Requested 14137")
	f(Bytes, 0, 0, "total message size 10176584 exceeds limit 2097152")
	f(Bytes, 0, 0, "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got one with length 1540820.")

	// A bound is not what was counted.
	f(Input, 131_072, 0, "maximum context length is 131072 tokens. However, you requested 4096 output tokens and your prompt contains at least 126977 input tokens.")
}

func TestFieldsTellNumbersToo(t *testing.T) {
	f := func(window, requested int, body string) {
		t.Helper()
		for _, status := range []int{400, 500} {
			v := Read(Answer{Status: status, Body: []byte(body)}, Sent{})
			if v.Kind != Input || v.Window != window || v.Requested != requested {
				t.Errorf("%d %s: %+v", status, body, v)
			}
		}
	}
	f(8_192, 14_429, `{"error":{"code":400,"message":"the request exceeds the available context size","n_prompt_tokens":14429,"n_ctx":8192}}`)
	f(32_000, 40_210, `{"error":{"message":"failed","details":{"reason":"PROMPT_TOKENS_OVER_LIMIT","limit":32000,"prompt_tokens":40210,"line":3}}}`)
	f(8_000, 9_100, `{"error":"InputTooLong","max_input_tokens":8000,"got":9100,"created":1712345678}`)
}
