package aside

import (
	"strings"
	"testing"

	"epitome/rewrite/aside"
	"epitome/rewrite/responses"
	"epitome/rewrite/span"
)

// hears plays a round of a stream, and returns what the client gets, an event in each line.
func hears(h aside.Hearing, last bool, events ...string) string {
	h.Begin(last)
	out := ""
	for _, data := range events {
		got, ends := h.Event(nil, []byte("data: "+data+"\n\n"), []byte(data))
		out += strings.NewReplacer("data: ", "", "\n\n", "\n").Replace(string(got))
		if ends && len(got) > 0 {
			out += "(end)\n"
		}
	}
	return out
}

func TestEventsOfRoundsAreNumberedThrough(t *testing.T) {
	call := `{"type":"function_call","id":"fc1","call_id":"c1","name":"epitome_recall","arguments":"{}"}`
	said := func(id, text string) string {
		return `{"type":"message","id":"` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`
	}
	first := []string{
		`{"type":"response.created","sequence_number":0,"response":{"id":"r1"}}`,
		`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"m1"}}`,
		`{"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":` + said("m1", "Well") + `}`,
		`{"type":"response.output_item.added","sequence_number":3,"output_index":1,"item":` + call + `}`,
		`{"type":"response.output_item.done","sequence_number":4,"output_index":1,"item":` + call + `}`,
		`{"type":"response.completed","sequence_number":5,"response":{"id":"r1","status":"completed","output":[` + said("m1", "Well") +
			`,` + call + `],"usage":{"n":1}}}`,
	}
	h := Dialect{}.Hear()
	if got := hears(h, false, first...); got != strings.Join(first[:3], "\n")+"\n" {
		t.Errorf("of the first round the client gets\n%s", got)
	}
	r, ok := h.Round()
	if !ok || string(r.Said) != `[`+said("m1", "Well")+`,`+call+`]` || r.Calls[0].ID != "c1" || r.Given != "\nWell" {
		t.Fatalf("%v, the round is %+v", ok, r)
	}
	second := []string{
		`{"type":"response.created","sequence_number":0,"response":{"id":"r2"}}`,
		`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"m2"}}`,
		`{"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":` + said("m2", "7") + `}`,
		`{"type":"response.completed","sequence_number":3,"response":{"id":"r2","status":"completed","output":[` + said("m2", "7") +
			`],"usage":{"n":2}}}`,
	}
	want := `{"type":"response.output_item.added","sequence_number":3,"output_index":1,"item":{"type":"message","id":"m2"}}` + "\n" +
		`{"type":"response.output_item.done","sequence_number":4,"output_index":1,"item":` + said("m2", "7") + `}` + "\n" +
		`{"type":"response.completed","sequence_number":5,"response":{"id":"r1","status":"completed","output":[` + said("m1", "Well") +
		`,` + said("m2", "7") + `],"usage":{"n":3}}}` + "\n(end)\n"
	if got := hears(h, false, second...); got != want {
		t.Errorf("of the second round the client gets\n%s\nwant\n%s", got, want)
	}
	if g, hidden, ok := h.Answer(); !ok || g.ID != "r1" || g.Real != "r2" || g.Text != "Well7" || len(hidden) > 0 {
		t.Errorf("the client was given %+v, and %v is hidden", g, hidden)
	}
	if got := hears(Dialect{}.Hear(), true, first...); strings.Contains(got, "epitome_recall") || !strings.Contains(got, "(end)") {
		t.Errorf("of a last round the client gets\n%s", got)
	}
}

// TestNumbersOfItemsStayAsTheyCame: some servers leave numbers out, or give all items one. What the tool is called with
// is hidden all the same.
func TestNumbersOfItemsStayAsTheyCame(t *testing.T) {
	f := func(first, second string) {
		t.Helper()
		added := func(at, item string) string {
			return `{"type":"response.output_item.added","output_index":` + at + `,"item":` + item + `}`
		}
		events := []string{
			added(first, `{"type":"message","id":"m"}`),
			`{"type":"response.output_text.delta","output_index":` + first + `,"delta":"Hi"}`,
			`{"type":"response.output_item.done","output_index":` + first + `,"item":{"type":"message","id":"m"}}`,
			added(second, `{"type":"function_call","call_id":"c","name":"own"}`),
			`{"type":"response.function_call_arguments.delta","output_index":` + second + `,"delta":"{}"}`,
			`{"type":"response.output_item.done","output_index":` + second + `,"item":{"type":"function_call","call_id":"c","name":"own"}}`,
		}
		if got, want := hears(Dialect{}.Hear(), false, events...), strings.Join(events, "\n")+"\n"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		for i := range events {
			events[i] = strings.ReplaceAll(events[i], `"own"`, `"epitome_recall"`)
		}
		if got, want := hears(Dialect{}.Hear(), false, events...), strings.Join(events[:3], "\n")+"\n"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	f("0", "1")
	f("1", "2")
	f("0", "2")
	f("0", "0")
	f("1", "1")
}

func TestWhoGoesOnByAnIDGoesOnFromTheLastRound(t *testing.T) {
	hidden := []aside.Call{{ID: "c", Result: "found"}}
	const output = `{"type":"function_call_output","call_id":"c","output":"found"}`
	f := func(input, want string) {
		t.Helper()
		r, err := responses.Dialect{}.Read([]byte(`{"previous_response_id":"r1","input":`+input+`}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		edits, ok := Dialect{}.Resume(r, "r2", hidden)
		got, err := span.Splice(r.Body, edits)
		if !ok || err != nil || string(got) != `{"previous_response_id":"r2","input":`+want+`}` {
			t.Errorf("%v, %v: %s", ok, err, got)
		}
	}
	f(`"hi"`, `[`+output+`,{"role":"user","content":"hi"}]`)
	f(`[ {"role":"user","content":"hi"}]`, `[ `+output+`,{"role":"user","content":"hi"}]`)
	f(`[]`, `[`+output+`]`)
}
