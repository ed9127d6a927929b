package messages

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"epitome/dialect/answer"
	"epitome/event"
)

func TestEventsOfAStream(t *testing.T) {
	for want, events := range map[answer.Step][]string{
		answer.FrameStep: {``, `{"type":"message_start","message":{"id":"m","usage":{"input_tokens":9}}}`,
			`{"type": "ping"}`,
			`{"type":"content_block_start","content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","delta":{"type":"text_delta","text":""}}`, `{"type":"content_block_stop"}`,
			`{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":0}}`},
		answer.SaidStep: {`{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_start","content_block":{"type":"thinking"}}`,
			`{"type":"content_block_start","content_block":{"type":"tool_use"}}`,
			`[DONE]`, `{"choices":[{"delta":{}}]}`, `{"type":"strange"}`}, // what is not of this API is not held
		answer.ErrorStep: {`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`,
			`{"error":"too long"}`},
		answer.EndStep: {`{"type":"message_stop"}`,
			`{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`},
	} {
		for _, data := range events {
			if got := answer.StepOf(Dialect{}, answer.Event{Data: []byte(data)}); got != want {
				t.Errorf("%s: step %v, want %v", data, got, want)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	const start = "data: " + `{"type":"message_start","message":{"usage":{"input_tokens":3,` +
		`"cache_creation_input_tokens":20,` +
		`"cache_read_input_tokens":300,"cache_creation":{"ephemeral_1h_input_tokens":15},"output_tokens":1}}}` + "\n\n"
	delta := func(usage string) string {
		return `xt":"a"}}` + "\n\ndata: " + `{"type":"message_delta","usage":{"output_tokens":9` + usage + "}}\n\n"
	}
	const repeats = `,"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":300`
	used := func(read, write5m, write1h, output int) event.Usage {
		return event.Usage{Source: event.UsageProvider, Input: 3 + read + write5m + write1h, Read: read,
			Write5m: write5m,
			Write1h: write1h, Output: output}
	}
	cut := used(300, 5, 15, 1)
	cut.Cut = true
	unknown := used(0, 0, 0, 9)
	unknown.CacheUnknown = true
	uncached := used(0, 0, 0, 9)
	uncached.Uncached = true
	hour := used(300, 0, 20, 9)
	hour.Life = time.Hour
	for _, c := range []struct {
		heard string
		want  event.Usage
		input int
	}{
		{start + delta(""), used(300, 5, 15, 9), 323},
		{start + delta(repeats), used(300, 5, 15, 9), 323},
		{start + delta(`,"cache_read_input_tokens":400`), used(400, 5, 15, 9), 423}, // what is said last is true
		{strings.Replace(start, `tokens":15`, `tokens":20`, 1) + delta(""), hour, 323},
		// Its missing beginning may have said more.
		{delta(repeats), event.Usage{}, 0},
		{start, cut, 323},
		{`{"content":[],"usage":{"input_tokens":3,"output_tokens":9}}`, unknown, 3},
		{`{"content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":0,"output_tokens":9}}`, uncached, 3},
		{`{"type":"error","error":{"message":"no"}}`, event.Usage{}, 0},
	} {
		got, input := Dialect{}.Usage([]byte(c.heard))
		if got != c.want || input != c.input {
			t.Errorf("%s:\n%+v, %d, want\n%+v, %d", c.heard, got, input, c.want, c.input)
		}
	}
}

// Anthropic's page "Compaction at a token threshold": "The top-level input_tokens and output_tokens do not include
// compaction iteration usage. To calculate total tokens consumed and billed for a request, sum across all entries in the
// usage.iterations array." Its example has the numbers of the first case; pause_after_compaction leaves the summary alone.
func TestUsageHasTheProvidersCompaction(t *testing.T) {
	const summary, message = `{"type":"compaction","input_tokens":180000,"output_tokens":3500}`,
		`{"type":"message","input_tokens":23000,"output_tokens":1000}`
	const cached = `{"type":"compaction","input_tokens":10,"cache_read_input_tokens":170000,` +
		`"cache_creation_input_tokens":500,"cache_creation":{"ephemeral_1h_input_tokens":400},"output_tokens":3500}`
	const two = `{"type":"message","input_tokens":11500,"output_tokens":500}`
	for _, c := range []struct {
		input, output int // at the top
		iterations    string
		want          event.Usage // without Source
		window        int
	}{
		{23_000, 1000, summary + "," + message, event.Usage{Input: 203_000, Output: 4500, CacheUnknown: true}, 0},
		{23_000, 1000, cached + "," + message, event.Usage{Input: 193_510, Output: 4500,
			Read: 170_000, Write5m: 100, Write1h: 400}, 0},
		{0, 0, summary, event.Usage{Input: 180_000, Output: 3500, CacheUnknown: true}, 0},
		{203_000, 4500, summary + "," + message, event.Usage{Input: 203_000, Output: 4500, CacheUnknown: true}, 0},
		{23_000, 1000, two + "," + two, event.Usage{Input: 23_000, Output: 1000, CacheUnknown: true}, 0},
		{23_000, 1000, message, event.Usage{Input: 23_000, Output: 1000, CacheUnknown: true}, 23_000},
		{412, 531, `{"type":"message","input_tokens":412,"output_tokens":89},` +
			`{"type":"advisor_message","input_tokens":823,"output_tokens":1612},` +
			`{"type":"message","input_tokens":1348,"cache_read_input_tokens":412,"output_tokens":442}`,
			event.Usage{Input: 412 + 1348 + 412, Output: 531, Read: 412}, 0}, // the advisor has its own price
		{23_000, 1000, "", event.Usage{Input: 23_000, Output: 1000, CacheUnknown: true}, 23_000},
	} {
		c.want.Source = event.UsageProvider
		usage := fmt.Sprintf(`"usage":{"input_tokens":%d,"output_tokens":%d,"iterations":[%s]}`, c.input, c.output,
			c.iterations)
		for form, text := range map[string]string{
			"whole": `{"content":[{"type":"compaction","content":"So far."}],` + usage + `}`,
			"streamed": fmt.Sprintf(`data: {"type":"message_start","message":{"usage":{"input_tokens":%d,"output_tokens":0,`+
				`"iterations":null}}}`+"\n\n"+`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},%s}`+"\n\n",
				c.input, usage),
		} {
			if got, window := (Dialect{}).Usage([]byte(text)); got != c.want || window != c.window {
				t.Errorf("%s, %s:\n%+v, %d, want\n%+v, %d", form, usage, got, window, c.want, c.window)
			}
		}
	}
}

func TestReadAnswer(t *testing.T) {
	data := func(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }
	const start = `{"type":"message_start","message":{"usage":{"input_tokens":1,"cache_read_input_tokens":8}}}`
	const a, b = `{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`,
		`{"type":"content_block_start","content_block":{"type":"text","text":"b"}}`
	const thinks = `{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"no"}}`
	end := func(reason string) string {
		return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":5}}`
	}
	for _, c := range []struct {
		body string
		want answer.Answer
		err  error
	}{
		{`{"content":[` + thought + `,` + text(`a\n`) + `,` + text("b") +
			`],"stop_reason":"end_turn","usage":{"input_tokens":1,` +
			`"cache_read_input_tokens":8,"cache_creation_input_tokens":2,"output_tokens":3}}`,
			answer.Answer{Text: "a\nb", Input: 11, Cached: 8, Written: 2, Output: 3}, nil},
		{`{"content":[` + text("a") + `],"stop_reason":"max_tokens"}`, answer.Answer{Text: "a", Cut: true}, nil},
		{`{"content":[` + call + `],"stop_reason":"tool_use"}`, answer.Answer{Called: true}, nil},
		{`{"type":"error","error":{}}`, answer.Answer{Error: []byte(`{"type":"error","error":{}}`)}, nil},
		{data(start, thinks, b, a, end("end_turn"), `{"type":"message_stop"}`),
			answer.Answer{Text: "ba", Input: 9, Cached: 8, Output: 5}, nil},
		{data(start, `{"type":"error","error":{"message":"too long"}}`),
			answer.Answer{Error: []byte(`{"type":"error","error":{"message":"too long"}}`)}, nil},
		{"", answer.Answer{}, io.ErrUnexpectedEOF},
		{data(start, a), answer.Answer{}, io.ErrUnexpectedEOF},
	} {
		got, err := answer.Read(Dialect{}, []byte(c.body))
		if !reflect.DeepEqual(got, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v, want %+v, %v", c.body, got, err, c.want, c.err)
		}
	}
}
