package window

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/internal/jsonspan"
)

// refusals are answers and what each says about the size of its request: those with a provider were received from it,
// the others were made up.
//
//go:embed testdata/refusals.jsonl
var refusals string

func TestRefusalsAreRead(t *testing.T) {
	for line := range strings.Lines(refusals) {
		var row struct {
			From, Body                     string
			Cause                          Cause
			Status, Limit, Requested, Room int
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got := ReadRefusal(row.Status, "", []byte(row.Body), Sent{})
		want := Refusal{row.Cause, row.Limit, row.Requested, row.Room}
		if got != want {
			t.Errorf("%s: %+v, want %+v\n\t%s\n\twords that match: %s", row.From, got, want,
				row.Body, matchedWords(row.Status, row.Body))
		}
		full := Sent{Tokens: 190_000, MaxOutput: 32_000, Window: 200_000}
		isSilent := strings.Contains(row.Body, `"choices"`) || strings.HasPrefix(row.Body, "data: [DONE]")
		c := ReadRefusal(row.Status, "", []byte(row.Body), full).Cause
		if c != NotSize && row.Cause == NotSize && !isSilent {
			t.Errorf("%s: behind a large request it is %s\n\t%s", row.From, c, row.Body)
		}
	}
}

// matchedWords lists what of words.txt an answer says, by name, for whoever adds a refusal.
func matchedWords(status int, body string) string {
	reply := readReply(status >= 300, "", strings.TrimSpace(body))
	var list []string
	for name, expr := range words() {
		if found := expr.FindAllString(reply.text.String(), -1); found != nil {
			list = append(list, fmt.Sprintf("%s %q", name, found))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// failure is an answer with the text as its error.
func failure(text string) []byte {
	return []byte(`{"error":{"message":` + jsonspan.Quoted(text) + `}}`)
}

func TestRefusalIsFoundInEveryShape(t *testing.T) {
	const text = "The prompt has 150000 tokens, which is more than the context window of 131072 tokens."
	q := jsonspan.Quoted(text)
	inner := `{"error":{"message":` + q + `,"code":"invalid"}}`
	f := func(status int, body string) {
		t.Helper()
		r := ReadRefusal(status, "", []byte(body), Sent{Tokens: 148_000, Window: 200_000})
		if want := (Refusal{Cause: Input, Limit: 131_072, Requested: 150_000}); r != want {
			t.Errorf("%+v\n\t%s", r, body)
		}
	}
	f(400, inner)
	f(200, inner)
	f(400, text)
	f(400, `{"error":`+q+`}`)
	f(400, `[{"error":{"code":400,"message":`+q+`}}]`)
	f(400, `{"detail":[{"type":"value_error","loc":["body"],"msg":`+q+`,"input":"x"}]}`)
	f(400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":`+jsonspan.Quoted(inner)+
		`,"provider_name":"P"}}}`)
	f(400, `{"error":{"message":`+jsonspan.Quoted("proxy.BadRequestError: AException - b'"+inner+"'. Group=a/b\nFallbacks=None")+
		`}}`)
	f(400, `{"error":{"message":{"type":"error","error":{"message":`+q+`}},"status":"INVALID"}}`)
	f(400, `{"OriginalMessage":`+jsonspan.Quoted(jsonspan.Quoted(inner))+`,"Message":"the model failed"}`)
	f(200, "event: error\ndata: {\"message\":"+q+"}\n\n")
	f(200, ": hello\n\ndata:"+inner+"\n\ndata: [DONE]\n\n")
	f(200, "data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\ndata: "+inner+"\n\n")
	f(200, `data: {"type":"error","sequence_number":3,"message":`+q+"}\n\n")
	f(200, "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":"+
		"{\"code\":\"x\",\"message\":"+q+"}}}\n\n")
}

func TestStatusDecidesWhereNothingIsSaid(t *testing.T) {
	full, small := Sent{Tokens: 120_000, Window: 128_000}, Sent{Tokens: 20_000, Window: 128_000}
	f := func(want Cause, s Sent, status int, kind, body string) {
		t.Helper()
		if r := ReadRefusal(status, kind, []byte(body), s); r.Cause != want {
			t.Errorf("%d %q is %v, want %v", status, body, r.Cause, want)
		}
	}
	const stream = "text/event-stream"
	f(Bytes, small, 413, "", " \n")
	f(Bytes, small, 502, "", "<html><title>413 Request Entity Too Large</title></html>")
	f(Input, full, 400, "", "")
	f(NotSize, small, 400, "", "")
	f(NotSize, full, 400, "", `{"error":{"message":"Bad Request"}}`)
	f(Input, full, 200, "", "data: [DONE]\n\n")
	f(Input, full, 200, stream, "")
	f(NotSize, small, 200, "", "data: [DONE]\n\n")
	for _, status := range []int{401, 402, 403, 404, 529} {
		f(NotSize, full, status, "", string(failure("The prompt is longer than the context window.")))
	}
}

func TestOutputIsToldFromInput(t *testing.T) {
	f := func(want Cause, room int, s Sent, text string) {
		t.Helper()
		if r := ReadRefusal(400, "", failure(text), s); r.Cause != want || r.Room != room {
			t.Errorf("%s\n\tis %v with room for %d, want %v with %d", text, r.Cause, r.Room, want, room)
		}
	}
	const told = "The window holds 8192 tokens, and you asked for %d (%d in the messages, %d in the completion)."
	f(Output, 8_192-3_000-64, Sent{}, fmt.Sprintf(told, 11_000, 3_000, 8_000))
	f(Input, 0, Sent{}, fmt.Sprintf(told, 9_500, 9_000, 500))
	f(Input, 0, Sent{}, fmt.Sprintf(told, 9_140, 8_140, 1_000)) // less than the margin is left
	f(Output, 200_000-150_000-64, Sent{}, "prompt and max_tokens are above the context limit: 150000 + 60000 > 200000")
	f(Output, 131_072-10_000-64-156, Sent{}, "The context length is 131072 tokens, you requested about 141072 "+
		"(10000 of text input, 131072 in the output).")
	f(Output, 131_072-22_000-64, Sent{}, "The context length is 131072 tokens, you requested 153072 (9000 of text "+
		"input, 13000 of tool input, 131072 in the output).")
	f(Output, 2_048-1_200-64, Sent{}, "`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1200 `inputs` "+
		"tokens and 1000 `max_new_tokens`")
	f(Output, 32_768-20_000-64, Sent{}, "'max_tokens' is too large: 16384. The context length is 32768 tokens and "+
		"the request has 20000 input tokens.")

	sent := Sent{Tokens: 100_000, MaxOutput: 64_000, Window: 200_000}
	// No input is set against it.
	f(NotSize, 0, sent, "max_tokens must be at most 65536")
	f(NotSize, 0, sent, "max_tokens (200000) exceeds the context window (131072)")
	f(Input, 0, sent, "could not create the completion: context length exceeded")
	f(Input, 0, sent, "max_tokens must be at least 1, got -186.")
	f(NotSize, 0, Sent{MaxOutput: -186}, "max_tokens must be at least 1, got -186.")
}

func TestStructureIsOursAfterARewriteOnly(t *testing.T) {
	for _, text := range []string{
		"messages.3: content must not be empty",
		"messages: `tool_use` ids must be unique",
		"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` " +
			"is enabled, a final `assistant` message must start with a thinking block.",
		"messages: first message must use the \"user\" role",
	} {
		if r := ReadRefusal(400, "", failure(text), Sent{Tokens: 190_000, Window: 200_000}); r.Cause != NotSize {
			t.Errorf("as the client wrote it: %s is %v", text, r.Cause)
		}
		if r := ReadRefusal(400, "", failure(text), Sent{Rewritten: true}); r.Cause != Malformed {
			t.Errorf("rewritten: %s is %v", text, r.Cause)
		}
	}
	const words = "messages.7.content.0: Invalid `signature` in `thinking` block. The block is bound to a " +
		"different conversation. " +
		"Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". The " +
		"`tools` differ."
	for _, rewritten := range []bool{true, false} {
		if r := ReadRefusal(400, "", failure(words), Sent{Rewritten: rewritten}); r.Cause != Thinking {
			t.Errorf("rewritten %v: %s is %v", rewritten, words, r.Cause)
		}
	}
}

// A request that comes back within an answer may hold anything.
func TestEchoesAreNotRead(t *testing.T) {
	const echo = "prompt is too long: 200251 tokens > 200000 maximum"
	f := func(status int, body string) {
		t.Helper()
		if r := ReadRefusal(status, "", []byte(body), Sent{Tokens: 190_000, Window: 200_000}); r.Cause != NotSize {
			t.Errorf("%s\n\tis %v", body, r.Cause)
		}
	}
	conversation := `{"messages":[{"role":"user","content":` + jsonspan.Quoted(echo) + `}]}`
	f(400, `{"error":{"message":"Extra inputs are not permitted"},"input":`+conversation+`}`)
	f(422, `{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required","input":`+conversation+`}]}`)
	f(400, `1 error for the request: model: Field required [type=missing, input_value={'messages': [{'content': '`+echo+
		`'}]}]`)
	f(200, `{"choices":[{"message":{"role":"assistant","content":"`+echo+`"},"finish_reason":"stop"}]}`)
	f(200, "data: {\"choices\":[{\"delta\":{\"content\":\""+echo+"\"}}]}\n\n")
	f(200, echo)
	f(500, `<html><title>500 Internal Server Error</title><body>`+echo+`</body></html>`)
}

func TestAnswersThatEndedForWantOfRoom(t *testing.T) {
	f := func(requested, maxOutput int, body string) {
		t.Helper()
		r := ReadRefusal(200, "", []byte(body), Sent{Tokens: 9_000, MaxOutput: maxOutput, Window: 10_000})
		if (r.Cause == Input) != (requested > 0) || r.Requested != requested {
			t.Errorf("%s\n\tis %v, request %d; want %d", body, r.Cause, r.Requested, requested)
		}
	}
	f(32_889, 0, `{"choices":[{"message":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":32889,`+
		`"completion_tokens":0}}`)
	f(9_000, 0, `{"stop_reason":"max_tokens","content":[],"usage":{"input_tokens":9000,"output_tokens":0}}`)
	f(0, 0, `{"choices":[{"message":{"content":"yes"},"finish_reason":"length"}],"usage":{"prompt_tokens":10,`+
		`"completion_tokens":1}}`)
	f(0, 0, `{"choices":[{"message":{"content":""},"finish_reason":"length"}]}`) // it may have been reasoning
	f(9_000, 0, `{"type":"message","content":[],"stop_reason":"model_context_window_exceeded","usage":`+
		`{"input_tokens":9,"cache_read_input_tokens":8000,"cache_creation_input_tokens":991,"output_tokens":2}}`)

	const start = "event: x\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":" +
		"9,\"cache_read_input_tokens\":8000}}}\n\nevent: x\ndata: "
	f(8_009, 0, start+`{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":`+
		`{"output_tokens":2}}`+"\n\n")

	const response = `{"object":"response","status":"incomplete","incomplete_details":{"reason":"%s"},"output":[],` +
		`"usage":{"input_tokens":9000,"output_tokens":%d}}`
	for _, frame := range []string{"%s", "event: response.incomplete\ndata: " +
		"{\"type\":\"response.incomplete\",\"response\":%s}\n\n"} {
		f(9_000, 0, fmt.Sprintf(frame, fmt.Sprintf(response, "max_output_tokens", 0)))
		f(9_000, 4_000, fmt.Sprintf(frame, fmt.Sprintf(response, "max_output_tokens", 3)))
		f(0, 4_000, fmt.Sprintf(frame, fmt.Sprintf(response, "max_output_tokens", 4_000))) // all of it was thought
	}
}

func FuzzReadRefusal(f *testing.F) {
	for line := range strings.Lines(refusals) {
		var row struct {
			Status int
			Body   string
		}
		_ = json.Unmarshal([]byte(line), &row)
		f.Add(row.Status, "", row.Body, 100_000, 4_096, 200_000)
	}
	for _, unit := range []string{"too long ", "context length 12345 ", "12345 ", `{"error":`, "[", "data: {}\n",
		"request id ", "(parameter=", "超", `\`} {
		f.Add(400, "", `{"error":"`+strings.Repeat(unit, 1<<20/len(unit)), 0, -1, 0)
	}
	f.Fuzz(func(t *testing.T, status int, kind, body string, tokens, output, window int) {
		s := Sent{Tokens: max(tokens, 0) % (1 << 30), MaxOutput: output % (1 << 30), Window: max(window, 0) % (1 << 30),
			Rewritten: output%2 == 0}
		switch r := ReadRefusal(status, kind, []byte(body), s); {
		case r.Limit != 0 && (r.Limit < Least || r.Limit > Most || r.Cause != Input && r.Cause != Output):
			t.Errorf("the window cannot be: %+v", r)
		case (r.Cause == Output) != (r.Room > 0) || r.Requested < 0:
			t.Errorf("the sizes cannot be: %+v", r)
		case r.Cause == Malformed && !s.Rewritten:
			t.Errorf("nothing was rewritten: %+v", r)
		}
	})
}

// Each provider has its own words for a call without a result, or a result without a call. They count where the request
// has one, and the answer refuses it for what it says.
func TestBrokenPairsAreToldInManyWords(t *testing.T) {
	isUnpaired := func() bool { return true }
	f := func(want Cause, status int, text string, s Sent) {
		t.Helper()
		if got := ReadRefusal(status, "", failure(text), s).Cause; got != want {
			t.Errorf("%d: %s, want %s: %s", status, got, want, text)
		}
	}
	for _, text := range []string{
		"messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01.",
		"messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_x.",
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
			"(insufficient tool messages following tool_calls message)",
		"Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
		"No tool output found for function call call_X.",
		"No tool call found for function call output with call_id call_X.",
		"Please ensure that the number of function response parts is equal to the number of function call parts.",
		"Expected toolResult blocks at messages.2.content for the following Ids: tooluse_x",
		"Not the same number of function calls and responses",
		"invalid params, tool call result does not follow tool call (2013)",
		"tool_call_id  is not found",
		"InternalError.Algo.InvalidParameter: An assistant message with \"tool_calls\" must be followed by tool messages",
	} {
		for _, status := range []int{200, 400, 422} {
			f(Pairs, status, text, Sent{Unpaired: isUnpaired})
			f(NotSize, status, text, Sent{})
		}
		f(NotSize, 500, text, Sent{Unpaired: isUnpaired})
	}
	f(NotSize, 400, "The model is not known.", Sent{Unpaired: isUnpaired})
}
