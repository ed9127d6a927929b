package messages

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

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
			if got := (Dialect{}).Step(nil, []byte(data)); got != want {
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
	for _, c := range []struct {
		heard string
		want  event.Usage
		input int
	}{
		{start + delta(""), used(300, 5, 15, 9), 323},
		{start + delta(repeats), used(300, 5, 15, 9), 323},
		{start + delta(`,"cache_read_input_tokens":400`), used(400, 5, 15, 9), 423}, // what is said last is true
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
		got, err := Dialect{}.ReadAnswer(iotest.OneByteReader(strings.NewReader(c.body)))
		if !reflect.DeepEqual(got, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v, want %+v, %v", c.body, got, err, c.want, c.err)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":3}}`))
	f.Add([]byte(`{"usage":{"input_tokens":3,"iterations":[{"type":"message","iterations":[]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Dialect{}
		d.Step(nil, data)
		u, input := d.Usage(data)
		a, _ := d.ReadAnswer(strings.NewReader(string(data)))
		if u.Input < 0 || u.Read < 0 || u.Output < 0 || input < 0 || a.Input < 0 || a.Cached > a.Input {
			t.Fatalf("%q: %+v, %d, %+v", data, u, input, a)
		}
	})
}
