package responses

import (
	"fmt"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/spent"
)

func TestOnlyPathsOfConversationsAreServed(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		got := "none"
		switch d, p := (Wire{}), []byte(path); {
		case d.Serves(p):
			got = "serves"
		case d.Counts(p):
			got = "counts"
		case d.Compacts(p):
			got = "compacts"
		}
		if got != want {
			t.Errorf("%s: got %v, want %s", path, got, want)
		}
	}
	f(Dialect{}.Path(), "serves")
	f("/v1/responses", "serves")
	f("/responses", "serves")
	f("/openai/v1/responses", "serves") // Azure
	f("/backend-api/codex/responses", "serves")
	f("/v1/responses/input_tokens", "counts")
	f("/backend-api/codex/responses/compact", "compacts")
	f("/v1/responses/compact", "compacts")
	f("/v1/responses/resp_1", "none")
	f("/v1/responses/resp_1/cancel", "none")
	f("/v1/responses/resp_1/input_items", "none")
	f("/v1/chat/completions", "none")
	f("/v1/messages", "none")
	f("/v1/messages/count_tokens", "none")
}

func TestEventsOfAStreamTellHowItGoes(t *testing.T) {
	f := func(kind, data, want string) {
		t.Helper()
		rewritetest.CheckEvent(t, Wire{}, [2]string{kind, data}, want)
	}
	f("", "", "frame")
	for _, kind := range []string{"created", "queued", "in_progress"} {
		f("response."+kind, `{"type":"response.`+kind+`","sequence_number":0,"response":{"id":"r","status":"in_progress","error":null,"output":[],"usage":null}}`, "frame")
	}
	f("response.created", `{"response":{"id":"r"}}`, "frame")
	f("codex.rate_limits", `{"type":"codex.rate_limits","rate_limits":{}}`, "frame")
	f("keepalive", `{"type":"keepalive","sequence_number":3}`, "frame")
	// A message without a word.
	f("", `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","content":[]}}`, "frame")
	f("", `{"type":"response.content_part.added","part":{"type":"output_text","text":""}}`, "frame")
	f("", `{"type":"response.output_text.delta","delta":""}`, "frame")
	f("", `{"type":"response.output_text.done","text":""}`, "frame")
	f("", `{"type":"response.content_part.done","part":{"type":"output_text","text":""}}`, "frame")
	f("", `{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":""}]}}`, "frame")
	// What is said.
	f("", `{"type":"response.output_text.delta","delta":"a"}`, "begins")
	f("response.output_text.delta", `{"delta":"a"}`, "begins")
	f("", `{"type":"response.content_part.added","part":{"type":"refusal","refusal":"no"}}`, "begins")
	f("", `{"type":"response.content_part.added","part":{"type":"reasoning_text","text":""}}`, "begins")
	f("", `{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"a"}]}}`, "begins")
	for _, kind := range []string{"reasoning", "function_call", "custom_tool_call", "web_search_call", "compaction"} {
		f("", `{"type":"response.output_item.added","item":{"type":"`+kind+`"}}`, "begins")
	}
	f("", `{"type":"response.function_call_arguments.delta","delta":"{"}`, "begins")
	// What is none of the dialect's must not be held.
	f("", "[DONE]", "begins")
	f("", `{"choices":[{"delta":{}}]}`, "begins")
	f("strange", `{"type":"strange"}`, "begins")
	// An error, and an end before anything was said.
	f("response.failed", `{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":""}}}`, "fails")
	f("error", `{"type":"error","code":"context_length_exceeded","message":"m","param":null,"sequence_number":2}`, "fails")
	f("", `{"type":"error","error":{"message":"m"}}`, "fails")
	f("Error", `too long`, "fails")
	f("", `{"error":{"message":"too long"}}`, "fails")
	f("", `{"error":"too long"}`, "fails")
	f("", `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"output":[]}}`, "fails")
	f("", `{"type":"response.completed","response":{"output":[]}}`, "fails")
}

func TestUsageIsWhatStandsAtTheEnd(t *testing.T) {
	f := func(heard string, want int) {
		t.Helper()
		if _, got := (Wire{}).Usage([]byte(heard), spent.Nothing()); got != want {
			t.Errorf("%s: got %d, want %d", heard, got, want)
		}
	}
	const usage = `"usage":{"input_tokens":325,"input_tokens_details":{"cached_tokens":300,"cache_write_tokens":20},` +
		`"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":332}`
	f("", 0)
	// Whole answers, and their ends.
	f(`{"object":"response","output":[],`+usage+`,"user":null,"metadata":{}}`, 325)
	f("{\n  \"object\": \"response\",\n  "+strings.Replace(usage, ":", ": ", 1)+",\n  \"metadata\": {}\n}\n", 325)
	f(`{"usage":null}`, 0)
	f(`{"usage":{"input_tokens":"5"}}`, 0)
	f(`{"usage":{"input_tokens":-5}}`, 0)
	f(`{"usage":{"input_tokens":1e300}}`, 0)
	f(`{"error":{"message":"no"}}`, 0)
	f(`said."}]}],`+usage+`,"user":null}`, 325)
	f(`said \"usage\":{\"input_tokens\":5}"}]}]}`, 0)
	f(usage+`,"tools":[{"parameters":{"properties":{"usage":{"input_tokens":9}}}}],"top_p":1}`, 325)
	f(`"tools":[{"parameters":{"properties":{"usage":{"input_tokens":9}}}}],"top_p":1}`, 0)
	// Streams, and their ends.
	end := func(kind string) string {
		return fmt.Sprintf("event: response.%s\ndata: {\"type\":\"response.%[1]s\",\"response\":{\"id\":\"r\",%s,\"metadata\":{}},\"sequence_number\":9}\n\n", kind, usage)
	}
	const begin = "event: response.created\r\ndata: {\"type\":\"response.created\",\"response\":{\"usage\":null}}\r\n\r\n"
	for _, kind := range []string{"completed", "incomplete", "failed"} {
		f(begin+end(kind), 325)
		f(end(kind)[60:], 325)
		f(end(kind)+"data: [DONE]\n\n", 325)
		f(strings.ReplaceAll(end(kind), "\n", "\r\n"), 325)
	}
	f(begin, 0)
	f(end("completed")[:len(end("completed"))-6], 0) // it broke off
}

func FuzzEventsNeverBreakTheWire(f *testing.F) {
	f.Add("response.completed", []byte(`{"type":"response.completed","response":{"usage":{"input_tokens":3}}}`))
	f.Add("", []byte(`{"type":"response.output_item.added","item":{"type":"message","content":[{"type":"output_text"}]}}`))
	f.Add("x", []byte(`"usage":"usage" : {"usage":{"input_tokens":1}}}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		Wire{}.Begins([]byte(kind), data)
		Wire{}.Fails([]byte(kind), data)
		for _, heard := range [][]byte{data, append([]byte("data: "), data...)} {
			rewritetest.CheckUsage(t, heard, Wire{})
		}
		_, _ = Dialect{}.ReadAnswer(kind, strings.NewReader(string(data)))
	})
}

func TestUsageHasItsParts(t *testing.T) {
	f := func(usage string, want event.Usage) {
		t.Helper()
		if u, _ := (Wire{}).Usage([]byte(`{"object":"response","usage":`+usage+`}`), spent.Nothing()); u != want {
			t.Errorf("%s: %+v, want %+v", usage, u, want)
		}
	}
	f(`{"input_tokens":325,"input_tokens_details":{"cached_tokens":300,"cache_write_tokens":20},`+
		`"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":332}`,
		event.Usage{Source: event.UsageProvider, Input: 325, Read: 300, Write5m: 20, Output: 7, Reasoning: 3})
	f(`{"input_tokens":325,"output_tokens":7,"cost":0.5}`,
		event.Usage{Source: event.UsageProvider, Input: 325, Output: 7, CacheUnknown: true, Charged: 500_000_000})
	f(`{"input_tokens":5,"input_tokens_details":{"cached_tokens":6},"output_tokens":7}`,
		event.Usage{Source: event.UsageProvider, Input: 5, Read: 6, Output: 7, Odd: true})
	f(`{"input_tokens":5}`, event.Usage{})
}
