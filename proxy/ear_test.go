package proxy

import (
	"slices"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/messages"
)

// Whatever runs an answer comes in, its beginning and its end are heard, and no more is kept.
func TestAnEarHearsBeginningAndEnd(t *testing.T) {
	const begin = `data: {"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":3}}}` + "\n\n"
	const end = `data: {"type":"message_delta","usage":{"output_tokens":9}}` + "\n\n"
	for _, middle := range []int{0, 1000, 5000, 100_000} {
		answer := []byte(strings.Replace(begin, `":3`, `":3,"output_tokens":1`, 1) + strings.Repeat("data: {}\n\n", middle/10) + end)
		for _, run := range []int{1, 7, 50, 1000, mostEnd - 1, mostEnd, mostEnd + 1, 60_000} {
			e := ear{on: true, dialect: messages.Dialect{}}
			for rest := range slices.Chunk(answer, run) {
				e.Hear(rest)
			}
			want := event.Usage{Source: event.UsageProvider, Input: 10, Read: 3, Output: 9}
			if u, _ := e.Usage(e.ReadEnd(nil, 1<<20)); u != want || len(e.end) > 2*mostEnd {
				t.Errorf("%d bytes in runs of %d: %+v, and %d bytes are kept", len(answer), run, u, len(e.end))
			}
		}
	}
}
