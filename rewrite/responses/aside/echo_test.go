package aside

import (
	"strings"
	"testing"
)

// TestTheClientSeesTheToolsThatItSent: a response says with which tools it was asked for.
func TestTheClientSeesTheToolsThatItSent(t *testing.T) {
	const ours = `{"type":"function","name":"epitome_recall","parameters":{}}`
	f := func(tools, want string) {
		t.Helper()
		for _, kind := range []string{"created", "in_progress", "completed", "incomplete", "failed"} {
			h := Dialect{}.Hear()
			event := func(tools string) string {
				return `{"type":"response.` + kind + `","response":{"id":"r1","status":"completed","output":[],"tools":` + tools + `,"x":1}}`
			}
			if got := hears(h, false, event(tools)); strings.TrimSuffix(got, "(end)\n") != event(want)+"\n" {
				t.Errorf("%s: got %s, want %s", kind, got, event(want))
			}
		}
		h := Dialect{}.Hear()
		h.Begin(false)
		doc := func(tools string) string { return `{"id":"r1","output":[],"tools":` + tools + `}` }
		if got := string(h.Document([]byte(doc(tools)))); got != doc(want) {
			t.Errorf("got %s, want %s", got, doc(want))
		}
	}
	f(`[`+ours+`]`, `[]`)
	f(`[{"name":"own"},  `+ours+` ]`, `[{"name":"own"} ]`)
	f(`[{"name":"own"},{"name":"other"},`+ours+`]`, `[{"name":"own"},{"name":"other"}]`)
	f(`[`+ours+`, {"name":"own"}]`, `[ {"name":"own"}]`)
	f(`[{"name":"own"}]`, `[{"name":"own"}]`)
	f(`[]`, `[]`)
	f(`null`, `null`)
}

// TestAnAnswerThatFailsIsNone: what the model called before it did is not part of what was said.
func TestAnAnswerThatFailsIsNone(t *testing.T) {
	call := `{"type":"function_call","id":"fc1","call_id":"c1","name":"epitome_recall","arguments":"{}"}`
	added := `{"type":"response.output_item.added","output_index":0,"item":` + call + `}`
	wrong := `{"type":"error","code":"server_error","message":"busy"}`
	end := func(kind, status string) string {
		return `{"type":"response.` + kind + `","response":{"id":"r1","status":"` + status + `","output":[` + call + `]}}`
	}
	f := func(want, goesOn bool, events ...string) {
		t.Helper()
		h := Dialect{}.Hear()
		hears(h, false, events...)
		if _, _, ok := h.Answer(); ok != want {
			t.Errorf("%v is an answer: %v", events, ok)
		}
		if r, ok := h.Round(); ok != goesOn {
			t.Errorf("%v goes on from %+v: %v", events, r, ok)
		}
	}
	f(true, true, added, end("completed", "completed"))
	f(true, false, added, end("incomplete", "incomplete"))
	f(false, false, added, end("failed", "failed"))
	f(false, false, added, wrong)
	f(false, false, added)
	f(false, false, added, end("completed", "completed"), wrong)
}
