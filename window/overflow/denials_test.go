package overflow

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// much is a request that would fit an overflow: no refusal is left alone for want of size.
var much = Sent{Tokens: 190_000, MaxOutput: 32_000, Window: 200_000}

func TestOtherRefusalsAreLeftAlone(t *testing.T) {
	f := func(status int, text string) {
		t.Helper()
		if v := Read(Answer{Status: status, Body: []byte(`{"error":{"message":` + quoted(text) + `}}`)}, much); v.Kind != NotOurs {
			t.Errorf("%d %s\n\tis %v (%s)", status, text, v.Kind, v.Why)
		}
	}
	// Rates, and those who speak of prompts and tokens all the same.
	f(429, "This request would exceed your organization's rate limit of 40,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later.")
	f(429, "Rate limit reached on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38s.")
	f(429, "Too many tokens, please wait before trying again.")
	f(429, "Input token rate exceeded")
	f(503, "The server is overloaded: too many tokens in flight")
	f(400, "Operations that may take longer than 10 minutes need streaming: reduce the prompt or stream")
	// Accounts.
	f(400, "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3000.")
	f(429, "You exceeded your current quota; limit: 250000 input tokens")
	f(400, "Your organization's token limit has been reached")
	f(400, "Your session token has expired and the request exceeds its lifetime")
	// The output alone.
	f(400, "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.")
	f(400, "The maximum tokens you requested exceeds the model limit of 8192. Try again with a maximum tokens value that is lower than 8192.")
	f(400, "max_tokens: 10000 > 4096, which is the maximum allowed number of output tokens")
	f(400, "it has a maxOutputTokens value of 100000 but the supported range is from 1 to 65537")
	f(422, "Input validation error: `max_new_tokens` must be <= 2048. Given: 5000")
	f(400, "Range of max_tokens should be [1, 65536]")
	f(400, "This model generates at most 4096 tokens per request")
	// Fields.
	f(400, "`max_tokens` must be greater than `thinking.budget_tokens`")
	f(400, "Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64, but got one with length 75.")
	f(400, "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got one with length 150000.")
	f(400, "Invalid 'messages[2].tool_calls': array too long. Expected an array with maximum length 128, but got 200.")
	f(400, "messages[0].tool_calls[0].id exceeds the maximum length of 40")
	f(400, "Cached content is too small. total_token_count=2000, min_total_token_count=4096")
	f(400, "tools.0.custom.description: String should have at most 1024 characters")
	f(422, "Input should be less than or equal to 8192")
	// Pictures and files.
	f(400, "messages.0.content.2.image.source.base64: image exceeds 5 MB maximum: 15908784 bytes > 5242880 bytes")
	f(400, "Too many images and documents in messages: 102 + 0 > 100")
	f(413, "The attachment is larger than 20 MB")
	// What only sounds like it.
	f(500, "context deadline exceeded")
	f(400, "Unexpected token < in JSON at position 0 of the request body")
	f(500, "maximum recursion depth exceeded while compiling the schema of the request")
	f(500, "stack overflow in the chat template")
	f(400, "The prompt above contains the disallowed special token <|endoftext|>")
	f(400, "400 Request Header Or Cookie Too Large")
	f(400, "The context-1m beta is not available for this subscription")
}

// A request that comes back within an answer may hold anything.
func TestEchoesAreNotRead(t *testing.T) {
	const echo = "prompt is too long: 200251 tokens > 200000 maximum"
	f := func(status int, body string) {
		t.Helper()
		if v := Read(Answer{Status: status, Body: []byte(body)}, much); v.Kind != NotOurs {
			t.Errorf("%s\n\tis %v (%s)", body, v.Kind, v.Why)
		}
	}
	conversation := `{"messages":[{"role":"user","content":` + quoted(echo) + `}]}`
	f(400, `{"error":{"message":"Extra inputs are not permitted"},"input":`+conversation+`}`)
	f(422, `{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required","input":`+conversation+`}]}`)
	f(400, `{"error":{"message":`+quoted("cannot route "+conversation)+`}}`)
	f(400, `1 error for the request: model: Field required [type=missing, input_value={'messages': [{'content': '`+echo+`'}]}]`)
	f(400, `{"error":{"message":"Failed to call a function","code":"tool_use_failed","failed_generation":"`+echo+`"}}`)
	f(400, `{"error":{"message":"it was refused","metadata":{"reasons":["x"],"flagged_input":"`+echo+`"}}}`)
	f(200, `{"choices":[{"message":{"role":"assistant","content":"`+echo+`"},"finish_reason":"stop"}]}`)
	f(200, `{"type":"message","content":[{"type":"text","text":"`+echo+`"}]}`)
	f(200, `{"message":{"role":"assistant","content":"`+echo+`"},"done":true}`)
	f(200, `{"error":null,"output":[{"text":"`+echo+`"}]}`)
	f(200, "data: {\"choices\":[{\"delta\":{\"content\":\""+echo+"\"}}]}\n\n")
	f(200, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\""+echo+"\"}}\n\n")
	f(200, "data: {\"type\":\"response.output_text.delta\",\"delta\":\""+echo+"\"}\n\n")
	f(200, echo)
	f(500, `<html><title>500 Internal Server Error</title><body>`+echo+`</body></html>`)
}

// others are refusals by kind, with their blanks: # a number, MODEL, TIME, FIELD.
var others = map[string][]string{
	"rate": {
		"Rate limit reached for MODEL on tokens per TIME: Limit #, Used #. Please try again in #s.",
		"You have sent # tokens in the last TIME, and your limit is #.",
		"This request would exceed the limit of # input tokens per TIME of your organization; reduce the prompt or try again later.",
		"Too many requests: # prompts in one TIME, at most #.",
		"MODEL is throttled: requests of # tokens exceed your rate. Slow down.",
		"rate_limit_exceeded: # of # tokens per TIME are used",
	},
	"account": {
		"Invalid API key: the token is longer than # characters.",
		"Your access token for MODEL has expired; the request exceeds its time of # s.",
		"You are not authorized to use MODEL with a context of # tokens.",
		"You exceeded your current quota of # tokens, check your billing details.",
		"This prompt of # tokens costs more than the balance of your account, # credits are missing.",
		"The plan of your organization does not include MODEL: its token limit of # is reached.",
	},
	"image": {
		"messages.#.content.#.image: image exceeds # MB maximum: # bytes > # bytes",
		"The image of #x# px in the message is larger than # pixels.",
		"Too many images in the messages: #, at most #.",
		"The video input is too long: # seconds, at most #.",
		"File FIELD.pdf of the prompt has more than # pages.",
	},
	"parameter": {
		"FIELD must be less than or equal to #",
		"max_tokens (#) exceeds the maximum output of MODEL, which is # tokens",
		"max_completion_tokens is too large: #. MODEL supports at most # completion tokens.",
		"Range of max_tokens should be [1, #]",
		"Invalid 'messages[#].FIELD': string too long. Expected a string with maximum length 64, but got one with length 75.",
		"Invalid 'tools': array too long. Expected at most # elements.",
		"thinking.budget_tokens: # must be less than max_tokens #",
		"temperature: # is above the maximum of 2",
		"Unknown field FIELD in the request",
	},
}

func TestNoOtherRefusalIsTakenForAnOverflow(t *testing.T) {
	kinds := []string{"rate", "account", "image", "parameter"}
	number := rapid.OneOf(rapid.IntRange(2, 200), rapid.IntRange(1_000, 300_000),
		rapid.SampledFrom([]int{4_096, 8_192, 131_072, 200_000, 1_048_576}))
	models := rapid.SampledFrom([]string{"gpt-4o", "claude-sonnet-4", "llama-3.3-70b-versatile", "mistral-8k", "gpt-3.5-turbo-16k"})
	times := rapid.SampledFrom([]string{"minute", "min", "day", "hour", "second"})
	fields := rapid.SampledFrom([]string{"top_k", "name", "call_id", "presence_penalty", "user", "stop", "logprobs"})
	shape := rapid.SampledFrom([]string{
		`{"error":{"message":%s,"type":"invalid_request_error"}}`, `{"error":%s}`, `{"message":%s}`, `{"detail":%s}`, `[{"error":{"message":%s}}]`,
		`{"error":{"message":"Provider returned error","metadata":{"raw":%s}}}`, "data: {\"error\":{\"message\":%s}}\n\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		texts := others[rapid.SampledFrom(kinds).Draw(t, "kind")]
		text := rapid.SampledFrom(texts).Draw(t, "text")
		text = strings.ReplaceAll(text, "MODEL", models.Draw(t, "model"))
		text = strings.ReplaceAll(text, "TIME", times.Draw(t, "time"))
		text = strings.ReplaceAll(text, "FIELD", fields.Draw(t, "field"))
		for strings.Contains(text, "#") {
			text = strings.Replace(text, "#", fmt.Sprint(number.Draw(t, "number")), 1)
		}
		if rapid.Bool().Draw(t, "upper") {
			text = strings.ToUpper(text)
		}
		a := Answer{Status: rapid.SampledFrom([]int{200, 400, 422, 429, 500, 503}).Draw(t, "status")}
		a.Body = fmt.Appendf(nil, shape.Draw(t, "shape"), quoted(text))
		if v := Read(a, much); v.Kind != NotOurs {
			t.Fatalf("%d %s\n\tis %v (%s)", a.Status, a.Body, v.Kind, v.Why)
		}
	})
}
