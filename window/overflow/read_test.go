package overflow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// quoted is s as a JSON string.
func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// wrapped are all shapes in which errors have been seen, each around the text.
func wrapped(text string) map[string]Answer {
	q := quoted(text)
	inner := `{"error":{"message":` + q + `,"code":"invalid"}}`
	refused := func(body string) Answer { return Answer{Status: 400, Body: []byte(body)} }
	streamed := func(body string) Answer {
		return Answer{Status: 200, Type: "text/event-stream", Body: []byte(body)}
	}
	return map[string]Answer{
		"object":           refused(inner),
		"text":             refused(`{"error":` + q + `}`),
		"top level":        refused(`{"object":"error","message":` + q + `,"type":"BadRequestError"}`),
		"list":             refused(`[{"error":{"code":400,"message":` + q + `}}]`),
		"several":          refused(`{"errors":[{"code":7,"message":` + q + `}],"success":false}`),
		"detail":           refused(`{"detail":` + q + `}`),
		"details":          refused(`{"detail":[{"type":"value_error","loc":["body"],"msg":` + q + `,"input":"x"}]}`),
		"raw":              refused(`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":` + quoted(inner) + `,"provider_name":"P"}}}`),
		"raw text":         refused(`{"error":{"message":"Provider returned error","metadata":{"raw":` + q + `}}}`),
		"within a text":    refused(`{"error":{"message":` + quoted("proxy.BadRequestError: AException - b'"+inner+"'. Group=a/b\nFallbacks=None") + `}}`),
		"object as text":   refused(`{"error":{"message":{"type":"error","error":{"message":` + q + `}},"status":"INVALID"}}`),
		"twice":            refused(`{"OriginalMessage":` + quoted(quoted(inner)) + `,"Message":"the model failed"}`),
		"status message":   refused(`{"base_resp":{"status_code":1,"status_msg":` + q + `}}`),
		"plain":            refused(text),
		"repr":             refused("Error code: 400 - {'error': {'message': \"" + text + "\", 'param': None, 'code': 400}}"),
		"a server's error": {Status: 500, Body: []byte(inner)},
		"spaced":           refused("\n  " + strings.ReplaceAll(inner, ":", " :\n ")),
		"lines":            refused(`{"status":"starting"}` + "\n" + inner),
		"200":              {Status: 200, Body: []byte(inner)},
		"200 text":         {Status: 200, Body: []byte(`{"error":` + q + `,"error_type":"validation"}`)},
		"event":            streamed("event: error\ndata: {\"message\":" + q + "}\n\n"),
		"event, text":      streamed("event: error\ndata: " + text + "\n\n"),
		"frame":            streamed(": hello\n\ndata:" + inner + "\n\ndata: [DONE]\n\n"),
		"later frame":      streamed("data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\ndata: " + inner + "\n\n"),
		"typed frame":      streamed(`data: {"type":"error","sequence_number":3,"message":` + q + "}\n\n"),
		"failed response":  streamed("event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"x\",\"message\":" + q + "}}}\n\n"),
		"named exception":  {Status: 200, Body: []byte("validationException: {\"message\":" + q + "}")},
		"binary frame":     {Status: 200, Body: []byte("\x00\x00\x00\x9f\r:exception-type\x07\x00\x13validationException{\"message\":" + q + "}\x01\x02")},
	}
}

func TestRefusalIsFoundInEveryShape(t *testing.T) {
	const text = "The prompt has 150000 tokens, which is more than the context window of 131072 tokens."
	for shape, a := range wrapped(text) {
		v := Read(a, Sent{Tokens: 148_000, Window: 200_000})
		if v.Kind != Input || v.Window != 131_072 || v.Requested != 150_000 {
			t.Errorf("%s: %+v\n\t%s", shape, v, a.Body)
		}
	}
}

func TestCodesAloneAreEnough(t *testing.T) {
	f := func(want Kind, status int, body string) {
		t.Helper()
		if v := Read(Answer{Status: status, Body: []byte(body)}, Sent{}); v.Kind != want {
			t.Errorf("%s is %v (%s), want %v", body, v.Kind, v.Why, want)
		}
	}
	for _, code := range []string{"context_length_exceeded", "ContextWindowExceededError", "exceed_context_size",
		"prompt_too_long", "max_prompt_tokens_exceeded", "TOKENS_LIMIT_REACHED"} {
		f(Input, 400, `{"error":{"message":"","code":"`+code+`"}}`)
		f(Input, 200, `data: {"type":"response.failed","response":{"error":{"message":"","code":"`+code+`"}}}`)
	}
	f(Bytes, 400, `{"type":"error","error":{"type":"request_too_large","message":""}}`)
	f(NotOurs, 429, `{"error":{"code":"rate_limit_exceeded"}}`)
	f(NotOurs, 429, `{"error":{"code":"tokens_per_minute_exceeded"}}`)
	f(NotOurs, 400, `{"error":{"code":"string_above_max_length"}}`)
	f(NotOurs, 400, `{"error":{"code":"1261"}}`)
}

func TestStatusDecidesWhereNothingIsSaid(t *testing.T) {
	full, small := Sent{Tokens: 120_000, Window: 128_000}, Sent{Tokens: 20_000, Window: 128_000}
	f := func(want Kind, s Sent, a Answer) {
		t.Helper()
		if v := Read(a, s); v.Kind != want {
			t.Errorf("%d %q is %v (%s), want %v", a.Status, a.Body, v.Kind, v.Why, want)
		}
	}
	f(Bytes, small, Answer{Status: 413})
	f(Bytes, small, Answer{Status: 413, Body: []byte(" \n")})
	f(Bytes, small, Answer{Status: 413, Body: []byte("<html>\n<head><title>413 Request Entity Too Large</title></head></html>")})
	f(Bytes, small, Answer{Status: 413, Body: []byte(`{"error":{"message":"cannot read this"}}`)})
	f(Bytes, small, Answer{Status: 502, Body: []byte("<html><title>413 Request Entity Too Large</title></html>")})
	f(NotOurs, small, Answer{Status: 413, Body: []byte(`{"error":{"message":"the image is larger than 5 MB"}}`)})
	f(Input, full, Answer{Status: 400})
	f(NotOurs, small, Answer{Status: 400})
	f(NotOurs, Sent{}, Answer{Status: 400})
	f(NotOurs, full, Answer{Status: 400, Body: []byte(`{"error":{"message":"Bad Request"}}`)})
	f(NotOurs, full, Answer{Status: 500})
	f(Input, full, Answer{Status: 200, Body: []byte("data: [DONE]\n\n")})
	f(Input, full, Answer{Status: 200, Type: "text/event-stream"})
	f(NotOurs, small, Answer{Status: 200, Body: []byte("data: [DONE]\n\n")})
	f(NotOurs, full, Answer{Status: 200})
	f(NotOurs, full, Answer{Status: 200, Body: []byte("data: {\"choices\":[]}\n\ndata: [DONE]\n\n")})
	for _, status := range []int{401, 402, 403, 404, 529} {
		f(NotOurs, full, Answer{Status: status, Body: []byte(`{"error":{"message":"The prompt is longer than the context window."}}`)})
	}
}

func TestOutputIsToldFromInput(t *testing.T) {
	f := func(want Kind, output int, s Sent, text string) {
		t.Helper()
		v := Read(Answer{Status: 400, Body: []byte(`{"error":{"message":` + quoted(text) + `}}`)}, s)
		if v.Kind != want || v.Output != output {
			t.Errorf("%s\n\tis %v with room for %d (%s), want %v with %d", text, v.Kind, v.Output, v.Why, want, output)
		}
	}
	const told = "The window holds 8192 tokens, and you asked for %d (%d in the messages, %d in the completion)."
	f(Output, 8_192-3_000-64, Sent{}, fmt.Sprintf(told, 11_000, 3_000, 8_000))
	f(Input, 0, Sent{}, fmt.Sprintf(told, 9_500, 9_000, 500))
	f(Input, 0, Sent{}, fmt.Sprintf(told, 9_140, 8_140, 1_000)) // less than the margin is left
	f(Output, 200_000-150_000-64, Sent{}, "prompt and max_tokens are above the context limit: 150000 + 60000 > 200000")
	f(Output, 131_072-10_000-64-156, Sent{}, "The context length is 131072 tokens, you requested about 141072 (10000 of text input, 131072 in the output).")
	f(Output, 131_072-22_000-64, Sent{}, "The context length is 131072 tokens, you requested 153072 (9000 of text input, 13000 of tool input, 131072 in the output).")
	f(Output, 2_048-1_200-64, Sent{}, "`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1200 `inputs` tokens and 1000 `max_new_tokens`")
	f(Output, 32_768-20_000-64, Sent{}, "'max_tokens' is too large: 16384. The context length is 32768 tokens and the request has 20000 input tokens.")

	// The parts are not told, and what was counted here decides.
	sent := Sent{Tokens: 100_000, MaxOutput: 64_000, Window: 200_000}
	f(Output, 131_072-105_000-64, sent, "The messages and the completion are above the model's maximum context length of 131072 tokens.")
	f(Input, 0, Sent{Tokens: 130_500, MaxOutput: 64_000, Window: 200_000}, "The messages and the completion are above the model's maximum context length of 131072 tokens.")
	f(Input, 0, sent, "The prompt is longer than the model's maximum context length of 131072 tokens.")
	f(Input, 0, sent, "The messages or the completion exceed the context length.") // which is believed to hold both

	const bound = "The context length is 131072 tokens, and you requested %d output tokens with a prompt of at least %d input tokens."
	f(Output, 131_072-105_000-64, sent, fmt.Sprintf(bound, 32_000, 99_073)) // it is more by an unknown number

	// The input is below what is allowed, so something besides it counts.
	f(Output, 202_752-180_000-64, Sent{MaxOutput: 32_000}, "Request 180000 input tokens exceeds the model's maximum context length 202752")
	f(Input, 0, Sent{MaxOutput: 1_000}, "Request 180000 input tokens exceeds the model's maximum context length 202752")

	// No input is set against it.
	f(NotOurs, 0, sent, "max_tokens must be at most 65536")
	f(NotOurs, 0, sent, "max_completion_tokens must be less than or equal to 40960, its greatest value is less than the context window of this model")
	f(Output, 131_072-105_000-64, sent, "max_tokens (200000) exceeds the context window (131072)")
	f(Input, 0, sent, "could not create the completion: context length exceeded")
	f(Input, 0, sent, "max_tokens must be at least 1, got -186.")
	f(NotOurs, 0, Sent{MaxOutput: -186}, "max_tokens must be at least 1, got -186.")
}

func TestStructureIsOursAfterARewriteOnly(t *testing.T) {
	for _, text := range []string{
		"messages.4: a `tool_result` block has no corresponding `tool_use` block in the message before",
		"An assistant message with tool_calls must be followed by a tool message for each tool_call_id",
		"No tool call found for function call output with call_id call_7",
		"tool_call_id  is not found",
		"Roles must alternate user/assistant/user/assistant",
		"The last message must have the role user",
		"messages.3: content must not be empty",
		"the function call turn must come immediately before the function response turn",
		"failed to parse tool call arguments as JSON",
		"`thinking` blocks of the last message cannot be modified",
	} {
		a := Answer{Status: 400, Body: []byte(`{"error":{"message":` + quoted(text) + `}}`)}
		if v := Read(a, Sent{Tokens: 190_000, Window: 200_000}); v.Kind != NotOurs {
			t.Errorf("as the client wrote it: %s is %v", text, v.Kind)
		}
		if v := Read(a, Sent{Rewritten: true}); v.Kind != Malformed {
			t.Errorf("rewritten: %s is %v (%s)", text, v.Kind, v.Why)
		}
	}
}
