package messages

import (
	"fmt"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/spent"
)

func TestOnlyPathsOfConversationsAreServed(t *testing.T) {
	f := func(path string, want bool) {
		t.Helper()
		if got := (Wire{}).Serves([]byte(path)); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
	f(Dialect{}.Path(), true)
	f("/v1/messages", true)
	f("/api/anthropic/v1/messages", true)
	f("/v1/messages/count_tokens", false)
	f("/v1/messages/batches", false)
	f("/v1/threads/thread_1/messages", false) // another API
	f("/v1/chat/completions", false)
	f("/model/anthropic.claude/invoke", false)
}

func TestEventsOfAStreamTellHowItGoes(t *testing.T) {
	f := func(kind, data, want string) {
		t.Helper()
		rewritetest.CheckEvent(t, Wire{}, [2]string{kind, data}, want)
	}
	f("", "", "frame")
	f("message_start", `{"type":"message_start","message":{"id":"m","content":[],"stop_reason":null,"usage":{"input_tokens":9}}}`, "frame")
	f("ping", `{"type": "ping"}`, "frame")
	f("ping", `{}`, "frame")
	f("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, "frame")
	f("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`, "frame")
	f("content_block_stop", `{"type":"content_block_stop","index":0}`, "frame")
	f("message_delta", `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":0}}`, "frame")
	// What is said.
	f("", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, "begins")
	f("", `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"x"}}}`, "begins")
	f("", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`, "begins")
	for _, kind := range []string{"thinking", "redacted_thinking", "tool_use", "server_tool_use", "compaction"} {
		f("", `{"type":"content_block_start","index":0,"content_block":{"type":"`+kind+`"}}`, "begins")
	}
	// What is none of the dialect's must not be held.
	f("", "[DONE]", "begins")
	f("", `{"choices":[{"delta":{}}]}`, "begins")
	f("strange", `{"type":"strange"}`, "begins")
	// An error, and an end before anything was said.
	f("error", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`, "fails")
	f("", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "fails")
	f("Error", `too long`, "fails")
	f("", `{"error":{"message":"too long"}}`, "fails")
	f("", `{"error":"too long"}`, "fails")
	f("message_delta", `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":0}}`, "fails")
	f("message_stop", `{"type":"message_stop"}`, "fails")
}

func TestUsageIsTheWholeInput(t *testing.T) {
	f := func(heard string, want int) {
		t.Helper()
		if _, got := (Wire{}).Usage([]byte(heard), spent.Nothing()); got != want {
			t.Errorf("%s: got %d, want %d", heard, got, want)
		}
	}
	stream := func(events ...string) string {
		var b strings.Builder
		for _, e := range events {
			fmt.Fprintf(&b, "event: x\ndata: %s\n\n", e)
		}
		return b.String()
	}
	f("", 0)
	// Whole answers.
	f(`{"type":"message","content":[],"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,`+
		`"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":0},"output_tokens":7}}`, 325)
	f(`{"usage":{"input_tokens":5,"cache_creation_input_tokens":null,"output_tokens":7}}`, 5)
	f(`{"usage":null}`, 0)
	f(`{"usage":{"input_tokens":"5"}}`, 0)
	f(`{"usage":{"input_tokens":-5,"cache_read_input_tokens":1e300}}`, 0)
	f(`{"type":"error","error":{"message":"no"}}`, 0)
	// The end of one.
	f(`of it."}],"stop_reason":"end_turn","usage":{"input_tokens":5,"cache_read_input_tokens":300},"container":null}`, 305)
	f(`input":{"usage":{"input_tokens":5}}}],"stop_reason":"tool_use"}`, 0)
	f(`":1,"usage":{"input_tokens":5},"content":[{"type":"tool_use","input":{"usage":{"input_tokens":6}}}]}`, 5)
	f(`it said \"usage\":{\"input_tokens\":5}"}`, 0)
	// Streams: what is said last is true, of each part.
	const start = `{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":1}}}`
	f(stream(start), 323)
	f(stream(start, `{"type":"message_delta","usage":{"output_tokens":9}}`), 323)
	f(stream(start, `{"type":"message_delta","usage":{"input_tokens":5,"output_tokens":9}}`), 325)
	f(stream(start, `{"type":"message_delta","usage":{"input_tokens":null}}`, `{"type":"message_delta","usage":{"cache_read_input_tokens":0}}`), 23)
	f(stream(`{"type":"message_start","message":{"usage":{"input_tokens":3}}}`, `{"type":"message_delta","usage":{"input_tokens":8,"output_tokens":9}}`), 8)
	// The end of a stream says all or nothing: what came from the cache may have stood at its beginning.
	const rest = `ta":"cut off"}` + "\n\n"
	f(rest+stream(`{"type":"message_delta","usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":300}}`, `{"type":"message_stop"}`), 325)
	f(rest+stream(`{"type":"message_delta","usage":{"input_tokens":5,"output_tokens":9}}`), 0)
	f(rest+stream(`{"type":"message_delta","usage":{"output_tokens":9}}`), 0)
	// Several turns before one answer: the last one filled the window.
	const turns = `"iterations":[{"type":"message","input_tokens":5,"cache_read_input_tokens":100},{"type":"compaction","input_tokens":900},` +
		`{"type":"message","input_tokens":6,"cache_read_input_tokens":200,"cache_creation_input_tokens":3},{"type":"compaction","input_tokens":4}]`
	f(`{"usage":{"input_tokens":11,"cache_read_input_tokens":300,`+turns+`}}`, 209)
	f(rest+stream(`{"type":"message_delta","usage":{"output_tokens":9,`+turns+`}}`), 209)
}

func FuzzEventsNeverBreakTheWire(f *testing.F) {
	f.Add("message_delta", []byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":3}}`))
	f.Add("", []byte(`{"usage":{"input_tokens":3,"iterations":[{"type":"message","iterations":[]}]}}`))
	f.Add("x", []byte(`"usage":"usage" : {"usage":{"input_tokens":1}}}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		Wire{}.Begins([]byte(kind), data)
		Wire{}.Fails([]byte(kind), data)
		for _, heard := range [][]byte{data, append([]byte("data: "), data...)} {
			rewritetest.CheckUsage(t, heard, Wire{})
		}
	})
}

func TestUsageHasWhatTheCacheTookUp(t *testing.T) {
	f := func(opening, heard string, want event.Usage) {
		t.Helper()
		begun := Wire{}.Opening([]byte(opening))
		if u, _ := (Wire{}).Usage([]byte(heard), begun); u != want {
			t.Errorf("%s, then %s: %+v, want %+v", opening, heard, u, want)
		}
	}
	const start = "event: message_start\ndata: " + `{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3,` +
		`"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"cache_creation":{"ephemeral_5m_input_tokens":5,` +
		`"ephemeral_1h_input_tokens":15},"output_tokens":1}}}` + "\n\n"
	delta := func(usage string) string {
		return `xt":"a"}}` + "\n\ndata: " + `{"type":"message_delta","usage":{"output_tokens":9` + usage + "}}\n\n"
	}
	all := event.Usage{Source: event.UsageProvider, Input: 323, Read: 300, Write5m: 5, Write1h: 15, Output: 9}
	f("", start+delta(""), all)
	f(start, delta(""), all)
	f(start+"event: x\ndata: {cut o", delta(""), all)
	f(start, delta(`,"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":300`), all)
	grown := all
	grown.Input, grown.Read = 423, 400
	f(start, delta(`,"cache_read_input_tokens":400`), grown) // what is said last is true
	bare := all
	bare.Write5m, bare.Write1h = 20, 0
	f("", delta(`,"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":300`), bare)
	f("", delta(`,"input_tokens":3`), event.Usage{}) // the cache's part was said at the beginning
	f(start[:len(start)-20], delta(""), event.Usage{})
	cut := all // the end, which tells what the model wrote, was not heard
	cut.Output, cut.Cut = 1, true
	const torn = "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\\"usage\\\":"
	f("", start, cut)
	f("", start+torn, cut)
	f(start, `xt":"a"}}`+"\n\n"+torn, cut)
	f(start, "", cut)
	f(start, "data: "+`{"type":"error","error":{"type":"overloaded_error"}}`+"\n\n", cut)
	f(start[:len(start)-20], "", event.Usage{})
	f("", `{"usage":{"input_tokens":3,"output_tokens":9}}`,
		event.Usage{Source: event.UsageProvider, Input: 3, Output: 9, CacheUnknown: true})
	f("", `{"usage":{"input_tokens":3,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":9}}`,
		event.Usage{Source: event.UsageProvider, Input: 3, Output: 9})
	f("", `{"usage":{"input_tokens":3}}`, event.Usage{})
	// A compaction by the provider is paid beside the turns, and in none of their sums.
	f("", `{"usage":{"input_tokens":3,"cache_read_input_tokens":300,"cache_creation_input_tokens":0,"output_tokens":9,`+
		`"iterations":[{"type":"compaction","input_tokens":100,"cache_read_input_tokens":50,"output_tokens":40},`+
		`{"type":"message","input_tokens":3,"cache_read_input_tokens":300,"output_tokens":9}]}}`,
		event.Usage{Source: event.UsageProvider, Input: 453, Read: 350, Output: 49})
}
