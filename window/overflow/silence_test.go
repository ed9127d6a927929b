package overflow

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAnswersThatEndedForWantOfRoom(t *testing.T) {
	f := func(want Kind, requested int, body string) {
		t.Helper()
		v := Read(Answer{Status: 200, Body: []byte(body)}, Sent{Tokens: 9_000, Window: 10_000})
		if v.Kind != want || v.Requested != requested {
			t.Errorf("%s\n\tis %v, request %d; want %v, %d", body, v.Kind, v.Requested, want, requested)
		}
	}
	f(Input, 32_889, `{"choices":[{"message":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":32889,"completion_tokens":0}}`)
	f(Input, 202_752, `{"choices":[{"finish_reason":"model_context_window_exceeded"}],"usage":{"prompt_tokens":202752,"completion_tokens":0}}`)
	f(Input, 9_000, `{"stop_reason":"max_tokens","content":[],"usage":{"input_tokens":9000,"output_tokens":0}}`)
	f(Input, 4_096, `{"done_reason":"length","prompt_eval_count":4096,"eval_count":0}`)
	f(NotOurs, 0, `{"choices":[{"message":{"content":"yes"},"finish_reason":"length"}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`)
	f(NotOurs, 0, `{"choices":[{"message":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":0}}`)
	f(NotOurs, 0, `{"choices":[{"message":{"content":""},"finish_reason":"length"}]}`) // it may have been reasoning
	f(NotOurs, 0, `{"stop_reason":"model_context_window_exceeded","usage":{"input_tokens":9000,"output_tokens":50}}`)
	f(Input, 9_000, `{"type":"message","content":[],"stop_reason":"model_context_window_exceeded","usage":{"input_tokens":9,"cache_read_input_tokens":8000,"cache_creation_input_tokens":991,"output_tokens":2}}`)
	f(NotOurs, 0, `{"type":"message","content":[],"stop_reason":"end_turn","usage":{"input_tokens":9000,"output_tokens":2}}`)
	f(NotOurs, 0, `{"type":"message","content":[],"stop_reason":"max_tokens","usage":{"input_tokens":9000,"output_tokens":2}}`)
	f(NotOurs, 0, `{"type":"message","content":[{"type":"thinking"}],"stop_reason":"model_context_window_exceeded","usage":{"input_tokens":9000,"output_tokens":2}}`)
	f(NotOurs, 0, `{"choices":`)
	f(NotOurs, 0, `{"choices":[{"message":{},"finish_reason":"length"}],"usage":{"prompt_tokens":9000,"completion_tokens":0,"total_tokens":9900}}`) // thoughts
	roomy := Answer{Status: 200, Body: []byte(`{"choices":[{"message":{},"finish_reason":"length"}],"usage":{"prompt_tokens":20000,"completion_tokens":0}}`)}
	for _, s := range []Sent{{}, {Tokens: 20_000, Window: 1_000_000}} {
		if v := Read(roomy, s); v.Kind != NotOurs {
			t.Errorf("with room it is %v", v)
		}
	}
}

func TestStreamsThatEndedForWantOfRoom(t *testing.T) {
	f := func(want Kind, requested int, frames ...string) {
		t.Helper()
		const start = `{"type":"message_start","message":{"usage":{"input_tokens":9,"cache_read_input_tokens":8000}}}`
		body := "event: x\ndata: " + strings.Join(append([]string{start}, frames...), "\n\nevent: x\ndata: ") + "\n\n"
		v := Read(Answer{Status: 200, Type: "text/event-stream", Body: []byte(body)}, Sent{Tokens: 9_000, Window: 10_000})
		if v.Kind != want || v.Requested != requested {
			t.Errorf("%s\n\tis %v, request %d; want %v, %d", body, v.Kind, v.Requested, want, requested)
		}
	}
	const full = `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":2}}`
	const opened = `{"type":"content_block_start","content_block":{"type":"text","text":""}}`
	f(Input, 8_009, full, `{"type":"message_stop"}`)
	f(Input, 8_009, opened, full)
	f(Input, 8_009, `{"choices":[{"delta":{"content":""},"finish_reason":"model_context_window_exceeded"}]}`)
	f(NotOurs, 0, opened, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"yes"}}`, full)
	f(NotOurs, 0, `{"type":"content_block_start","content_block":{"type":"thinking"}}`, full)
	f(NotOurs, 0, `{"choices":[{"delta":{"content":"yes"},"finish_reason":"model_context_window_exceeded"}]}`)
	f(NotOurs, 0, strings.Replace(full, "model_context_window_exceeded", "end_turn", 1))
	f(NotOurs, 0, strings.Replace(full, "model_context_window_exceeded", "max_tokens", 1))
	f(NotOurs, 0, strings.Replace(full, "model_context_window_exceeded", "refusal", 1))
}

// A response that ends at the cap on its output, and says nothing, has met the end of its window if the cap was not
// reached.
func TestResponsesThatEndedForWantOfRoom(t *testing.T) {
	f := func(want Kind, most int, response string) {
		t.Helper()
		for _, body := range []string{
			response,
			"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"output\":[],\"usage\":null}}\n\n" +
				"event: response.incomplete\ndata: {\"type\":\"response.incomplete\",\"response\":" + response + "}\n\n",
		} {
			requested := 0
			if want == Input {
				requested = 9_000
			}
			v := Read(Answer{Status: 200, Body: []byte(body)}, Sent{Tokens: 9_000, MaxOutput: most, Window: 200_000})
			if v.Kind != want || v.Requested != requested {
				t.Errorf("%s\n\tis %v, request %d; want %v, %d", body, v.Kind, v.Requested, want, requested)
			}
		}
	}
	response := func(reason, output string, made int) string {
		return fmt.Sprintf(`{"object":"response","status":"incomplete","incomplete_details":{"reason":%q},"output":[%s],`+
			`"usage":{"input_tokens":9000,"input_tokens_details":{"cached_tokens":8000},"output_tokens":%d}}`, reason, output, made)
	}
	const cap, mute = "max_output_tokens", `{"type":"message","content":[{"type":"output_text","text":""}]}`
	f(Input, 0, response(cap, "", 0))
	f(Input, 4_000, response(cap, "", 0))
	f(Input, 4_000, response(cap, mute, 3))
	f(Input, 4_000, response("model_context_window_exceeded", "", 3))
	f(NotOurs, 4_000, response(cap, "", 4_000)) // all of it was thought
	f(NotOurs, 0, response(cap, "", 500))
	f(NotOurs, 4_000, response(cap, `{"type":"reasoning","summary":[]}`, 3))
	f(NotOurs, 4_000, response(cap, strings.Replace(mute, `""`, `"yes"`, 1), 3))
	f(NotOurs, 4_000, response(cap, `{"type":"function_call","name":"f"}`, 3))
	f(NotOurs, 4_000, response(cap, strings.Replace(mute, `""`, `"yes"`, 1), 0)) // it is not counted
	f(NotOurs, 4_000, response("content_filter", "", 0))
}

func TestStreamsThatSaidSomethingEndedForAnotherReason(t *testing.T) {
	const end = `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"output":[],"usage":{"input_tokens":9000,"output_tokens":2}}}`
	f := func(want Kind, piece string) {
		t.Helper()
		body := "data: " + piece + "\n\ndata: " + end + "\n\n"
		if v := Read(Answer{Status: 200, Body: []byte(body)}, Sent{Tokens: 9_000, MaxOutput: 100}); v.Kind != want {
			t.Errorf("%s is %v, want %v", piece, v.Kind, want)
		}
	}
	f(Input, `{"type":"response.in_progress"}`)
	f(Input, `{"type":"response.output_item.added","item":{"type":"message","content":[]}}`)
	f(NotOurs, `{"type":"response.output_text.delta","delta":"yes"}`)
	f(NotOurs, `{"type":"response.function_call_arguments.delta","delta":"{"}`)
	f(NotOurs, `{"type":"response.output_item.added","item":{"type":"reasoning"}}`)
}

// What is told of the request before an error, settings and tools and all, does not hide the error.
func TestErrorsBehindLongFramesAreRead(t *testing.T) {
	said := strings.Repeat("You are a coding agent. ", 2_000)
	frame := func(kind, err string) string {
		return fmt.Sprintf("event: response.%s\ndata: {\"type\":\"response.%[1]s\",\"response\":{\"id\":\"r\",\"error\":%s,"+
			"\"instructions\":%q,\"tools\":[{\"description\":\"prompt is too long\"}]}}\n\n", kind, err, said)
	}
	f := func(want Kind, err string) {
		t.Helper()
		body := frame("created", "null") + frame("in_progress", "null") + frame("failed", err)
		if v := Read(Answer{Status: 200, Body: []byte(body)}, Sent{}); v.Kind != want || len(body) < 2*mostBody {
			t.Errorf("%s in %d bytes is %v, want %v", err, len(body), v.Kind, want)
		}
	}
	f(Input, `{"code":"context_length_exceeded","message":""}`)
	f(NotOurs, `{"code":"server_error","message":"try again"}`)
}

func TestFullTellsWhyAnAnswerEnded(t *testing.T) {
	f := func(want bool, reason string, made int) {
		t.Helper()
		if Full(reason, made) != want {
			t.Errorf("%q after %d tokens is full: %v", reason, made, !want)
		}
	}
	f(true, "model_context_window_exceeded", 500)
	f(true, "context_length_exceeded", 0)
	f(true, "length", 0)
	f(true, "MAX_TOKENS", 0)
	f(false, "length", 1)
	f(false, "stop", 0)
	f(false, "content_filter", 0)
	f(false, "", 0)
}

func TestSilentCutsAreNoticed(t *testing.T) {
	f := func(used, counted, believed, size int) {
		t.Helper()
		got, ok := Truncated(used, counted, believed)
		if ok != (size > 0) || ok && got.Size != size {
			t.Errorf("Truncated(%d, %d, %d) is %v, %v; want %d", used, counted, believed, got, ok, size)
		}
	}
	f(2_048, 16_101, 128_000, 2_048)
	f(4_096, 5_000, 128_000, 4_096)
	f(40_960, 60_000, 128_000, 40_960)
	f(8_000, 9_500, 128_000, 8_000)
	f(1_026, 16_101, 128_000, 2_048)      // about half of a window is kept
	f(16_500, 60_000, 128_000, 32_768)    // likewise
	f(500, 16_101, 128_000, 1_024)        // and no window is smaller
	f(8_300, 14_000, 128_000, 8_300)      // twice as much would have held it
	f(9_000, 20_000, 10_000, 10_000)      // not above the one believed
	f(202_752, 230_000, 202_752, 202_752) // exactly the one believed
	f(202_752, 230_000, 1_000_000, 0)     // or by chance
	f(4_096, 4_200, 128_000, 0)           // counts differ by so much
	f(9_600, 16_000, 128_000, 0)          // six tenths
	f(16_000, 16_000, 128_000, 0)         //
	f(20_000, 16_000, 128_000, 0)         //
	f(0, 16_000, 128_000, 0)              // not told
	f(100, 16_000, 128_000, 0)            // told wrong
	f(300, 900, 128_000, 0)               // small requests have large errors
	rapid.Check(t, func(t *rapid.T) {
		used, counted := rapid.IntRange(-10, 1<<40).Draw(t, "used"), rapid.IntRange(-10, 1<<40).Draw(t, "counted")
		believed := rapid.IntRange(0, 1<<40).Draw(t, "believed")
		cut, ok := Truncated(used, counted, believed)
		size := cut.Size
		if ok && (size < LeastWindow || size > MostWindow || believed > 0 && size > believed || used >= counted ||
			size > counted) {
			t.Fatalf("Truncated(%d, %d, %d) is %d", used, counted, believed, size)
		}
	})
}
