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

// TestWhatIsHeldIsTold: items are held, and the pieces in which they come are not.
func TestWhatIsHeldIsTold(t *testing.T) {
	text := strings.Repeat("x", 1000)
	h := Dialect{}.Hear()
	hears(h, false, `{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}`)
	f := func(least, most int, event string) {
		t.Helper()
		before := h.Size()
		for range 10 {
			hears(h, false, event)
		}
		if grown := h.Size() - before; grown < least || grown > most {
			t.Errorf("%s: %d bytes are held", event, grown)
		}
	}
	f(10_000+10*perPart, 20_000+10*perPart, `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","x":"`+text+`"}}`)
	f(0, 0, `{"type":"response.output_text.delta","output_index":0,"delta":"`+text+`"}`)
}

// TestOtherLinesOfEventsStay: an event that is edited keeps all but its data.
func TestOtherLinesOfEventsStay(t *testing.T) {
	h := Dialect{}.Hear()
	h.Begin(false)
	f := func(id, name, number, index, want string) {
		t.Helper()
		data := `{"type":"response.output_item.added","sequence_number":` + number + `,"output_index":` + index +
			`,"item":{"type":"function_call","name":"` + name + `"}}`
		out, _ := h.Event(nil, []byte("id: "+id+"\nevent: e\ndata: "+data+"\nretry: 20\n\n"), []byte(data))
		if want != "" {
			want = "id: " + id + "\nevent: e\ndata: " + strings.Replace(data, `index":`+index, `index":`+want, 1) + "\nretry: 20\n\n"
		}
		if string(out) != want {
			t.Errorf("got %q, want %q", out, want)
		}
	}
	f("1", "epitome_recall", "0", "0", "")
	f("2", "own", "1", "1", "0")
}

// TestPartsThatSayNothingAreHeldToo: an answer of nothing else has a bound.
func TestPartsThatSayNothingAreHeldToo(t *testing.T) {
	h := Dialect{}.Hear()
	h.Begin(false)
	begin := []byte(`{"type":"response.output_item.added"}`)
	for range 100 {
		h.Event(nil, begin, begin)
	}
	if h.Size() < 100*perPart {
		t.Errorf("%d bytes are held", h.Size())
	}
}
