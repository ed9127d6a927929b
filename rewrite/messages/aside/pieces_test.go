package aside

import (
	"runtime"
	"strings"
	"testing"
)

// TestTextsThatSayNothingAreNotSentBack: the server refuses them.
func TestTextsThatSayNothingAreNotSentBack(t *testing.T) {
	h := Dialect{}.Hear()
	h.Begin(false)
	h.Document([]byte(`{"content":[{"type":"text","text":""},{"type":"text","text":" \n"},{"type":"text","text":"Well"},` +
		`{"type":"tool_use","id":"c","name":"epitome_recall","input":{}}],"stop_reason":"tool_use"}`))
	want := `[{"type":"text","text":"Well"},{"type":"tool_use","id":"c","name":"epitome_recall","input":{}}]`
	if r, ok := h.Round(); !ok || string(r.Said) != want {
		t.Errorf("%v %s", ok, r.Said)
	}
}

// TestALongAnswerCostsWhatItIsLong: four times the pieces take four times the memory, and not sixteen times.
func TestALongAnswerCostsWhatItIsLong(t *testing.T) {
	heard := func(pieces int, data string) uint64 {
		h := Dialect{}.Hear()
		h.Begin(false)
		begin := []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		h.Event(nil, begin, begin)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range pieces {
			h.Event(nil, []byte(data), []byte(data))
		}
		runtime.ReadMemStats(&after)
		if n := pieces * 100; h.Size() < n {
			t.Errorf("of %d bytes %d are held", n, h.Size())
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	f := func(delta string) {
		t.Helper()
		data := `{"type":"content_block_delta","index":0,"delta":{` + strings.ReplaceAll(delta, "X", strings.Repeat("x", 100)) + `}}`
		if once, fourfold := heard(500, data), heard(2000, data); fourfold > 8*once {
			t.Errorf("%s: %d and %d bytes", data, once, fourfold)
		}
	}
	f(`"type":"text_delta","text":"X"`)
	f(`"type":"thinking_delta","thinking":"X"`)
	f(`"type":"input_json_delta","partial_json":"X"`)
}

// TestAnAnswerThatFailsIsNone: what the model called before it did is not part of what was said.
func TestAnAnswerThatFailsIsNone(t *testing.T) {
	f := func(want bool, events ...string) {
		t.Helper()
		h := Dialect{}.Hear()
		h.Begin(false)
		for _, data := range events {
			h.Event(nil, []byte("data: "+data+"\n\n"), []byte(data))
		}
		if _, _, ok := h.Answer(); ok != want {
			t.Errorf("%v is an answer: %v", events, ok)
		}
		if r, ok := h.Round(); ok {
			t.Errorf("%v goes on from %+v", events, r)
		}
	}
	begin := `{"type":"message_start","message":{"usage":{"input_tokens":5}}}`
	call := `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"epitome_recall","input":{}}}`
	text := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}`
	wrong := `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	end := func(why string) string { return `{"type":"message_delta","delta":{"stop_reason":"` + why + `"}}` }
	f(true, begin, text, end("end_turn"))
	f(false, begin, text)
	f(false, begin, call, wrong)
	f(false, begin, call)
	f(false, begin, text, end("end_turn"), wrong)
	f(false, begin, call, end("tool_use"), wrong)
}

// TestPartsThatSayNothingAreHeldToo: an answer of nothing else has a bound.
func TestPartsThatSayNothingAreHeldToo(t *testing.T) {
	h := Dialect{}.Hear()
	h.Begin(false)
	begin := []byte(`{"type":"content_block_start","index":0}`)
	for range 100 {
		h.Event(nil, begin, begin)
	}
	if h.Size() < 100*perPart {
		t.Errorf("%d bytes are held", h.Size())
	}
}
