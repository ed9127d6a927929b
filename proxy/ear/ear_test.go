package ear

import (
	"slices"
	"strings"
	"testing"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite/messages"
)

// Whatever runs an answer comes in, its beginning and its end are heard, and no more is kept.
func TestAnEarHearsBeginningAndEnd(t *testing.T) {
	const begin = `data: {"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":3}}}` + "\n\n"
	const end = `data: {"type":"message_delta","usage":{"output_tokens":9}}` + "\n\n"
	for _, middle := range []int{0, 1000, 5000, 100_000} {
		answer := []byte(strings.Replace(begin, `":3`, `":3,"output_tokens":1`, 1) + strings.Repeat("data: {}\n\n", middle/10) + end)
		for _, run := range []int{1, 7, 50, 1000, mostEnd - 1, mostEnd, mostEnd + 1, 60_000} {
			e := Ear{on: true, dialect: messages.Wire{}}
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

// The end that is kept may begin within an event, wherever runs of the answer end: its name is known all the same.
func TestAnEarKnowsTheEventThatIsTorn(t *testing.T) {
	const ping = "event: ping\ndata: {\"event:\": 1}\n\n"
	answer := []byte("event: message_start\ndata: {}\n\n" + strings.Repeat(ping, 500) +
		"event: response.failed\ndata: {" + strings.Repeat(" ", 3*mostEnd) + "}\n\n")
	for run := 1; run < 3*mostEnd; run += 1 + run/7 {
		for first := range min(run, 100) {
			e := Ear{on: true, dialect: messages.Wire{}}
			e.Hear(answer[:first])
			for rest := range slices.Chunk(answer[first:], run) {
				e.Hear(rest)
			}
			if string(e.Torn()) != "response.failed" || len(e.end) > 2*mostEnd {
				t.Fatalf("in runs of %d behind one of %d: %q, and %d bytes are kept", run, first, e.Torn(), len(e.end))
			}
		}
	}
}

// It is known too where two runs meet within the name, and where the event is the first one.
func TestAnEarKnowsTheEventWhoseNameIsInTwoRuns(t *testing.T) {
	const failed = "event: response.failed\r\ndata: {"
	for _, pings := range []int{0, 1, 100, 180} {
		before := strings.Repeat("event: ping\r\ndata: {}\r\n\r\n", pings)
		answer := []byte(before + failed + strings.Repeat(" ", 3*mostEnd) + "}\r\n\r\n")
		for first := max(0, len(before)-10); first < len(before)+len(failed); first++ {
			for run := mostEnd; run < mostEnd+2*mostKind; run++ {
				e := Ear{on: true, dialect: messages.Wire{}}
				e.Hear(answer[:first])
				e.Hear(answer[first : first+run])
				if first+run-mostEnd > len(before) && string(e.Torn()) != "response.failed" {
					t.Fatalf("behind %d pings, in a run of %d behind one of %d: %q", pings, run, first, e.Torn())
				}
			}
		}
	}
}

// An encoded answer that is too long to be kept tells nothing.
func TestAnEarLetsLongEncodedAnswersGo(t *testing.T) {
	e := Ear{on: true, dialect: messages.Wire{}, coded: true}
	for range mostCoded/1000 + 2 {
		e.Hear(make([]byte, 1000))
	}
	a := &wire.Answer{Head: &wire.Head{Block: []byte("Content-Encoding: gzip\r\n")}}
	if u, used := e.Usage(e.ReadEnd(a, 1<<20)); u != (event.Usage{}) || used != 0 || cap(e.end) > 0 {
		t.Errorf("heard %+v and %d, and keeps %d bytes", u, used, cap(e.end))
	}
}
