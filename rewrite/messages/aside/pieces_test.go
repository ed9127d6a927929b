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
		h.Event(nil, begin, nil, begin)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range pieces {
			h.Event(nil, []byte(data), nil, []byte(data))
		}
		runtime.ReadMemStats(&after)
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
