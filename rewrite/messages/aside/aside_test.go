package aside

import (
	"strings"
	"testing"

	"epitome/rewrite/aside"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/span"
)

func TestAMessageIsCutWhereTheLastRoundBegan(t *testing.T) {
	rounds := []aside.Round{{Said: []byte(`[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"text","text":"Well. "},{"id":"c"}]`),
		Given: "\nWell. ", Marks: []string{"thinking\x00\x00\x00s1\x00"}, Calls: []aside.Call{{ID: "c", Result: "found"}}}}
	const thought = `{"type":"thinking","thinking":"hm","signature":"s1"}`
	round := func(with string) string {
		return `{"role":"assistant","content":[` + with + `{"type":"text","text":"Well. "},{"id":"c"}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"found"}]}`
	}
	f := func(rec aside.Record, content, want string) {
		t.Helper()
		const before, behind = `{"messages":[{"role":"user","content":"u"},`, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"own"}]}]}`
		r, err := messages.Dialect{}.Read([]byte(before+`{"role":"assistant","content":`+content+`}`+behind), nil)
		if err != nil {
			t.Fatal(err)
		}
		edits, ok := Dialect{}.Weave(r, conversation.Group{First: 1, End: 3}, &rec)
		got, err := span.Splice(r.Body, edits)
		if want == "" && ok || want != "" && (!ok || err != nil || !strings.HasPrefix(string(got), before+want)) {
			t.Errorf("%s: %v, %v\n%s\nwant\n%s", content, ok, err, got, before+want)
		}
	}
	only := aside.Record{Rounds: rounds}
	last := `{"type":"text","text":"It is 7."}`
	f(only, `[`+thought+`, {"type":"text","text":"Well. "},`+last+`]`, round(thought+",")+`,{"role":"assistant","content":[`+last+`]}`)
	f(only, `[{"type":"text","text":"Well."},`+last+`]`, round("")+`,{"role":"assistant","content":[`+last+`]}`)
	f(only, `[{"type":"text","text":"Well. It is 7."}]`, round("")+`,{"role":"assistant","content":[`+last+`]}`)
	f(only, `"Well. It is 7."`, round("")+`,{"role":"assistant","content":"It is 7."}`)
	f(only, `[`+thought+`,{"type":"text","text":"Well. "}]`, round(thought+",")+`,{"role":"user"`)
	f(only, `"Well."`, round("")+`,{"role":"user"`)
	f(only, `[{"type":"text","text":"Something else."}]`, "")
	hidden := aside.Record{Last: []aside.Call{{ID: "h", At: 1, Raw: []byte(`{"id":"h"}`), Result: "r"}}}
	call := `{"type":"tool_use","id":"x","name":"own","input":{}}`
	f(hidden, `[`+call+`]`, `{"role":"assistant","content":[`+call+`,{"id":"h"}]},{"role":"user","content":[`+
		`{"type":"tool_result","tool_use_id":"h","content":"r"},{"type":"tool_result","tool_use_id":"x"`)
	f(hidden, `[`+last+`]`, "")
}

// event is an event with this data.
func event(data string) []byte { return []byte("data: " + data + "\n\n") }

func TestPiecesOfABlockAreKeptWhole(t *testing.T) {
	h := Dialect{}.Hear()
	h.Begin(false)
	out := ""
	for _, data := range []string{
		`{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c","name":"epitome_recall","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"artifact\":"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"x\"}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`,
		`{"type":"message_stop"}`,
	} {
		got, ends := h.Event(nil, event(data), []byte(data))
		if out += string(got); ends {
			t.Errorf("%s ends an answer that goes on", data)
		}
	}
	r, ok := h.Round()
	want := `[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"c","name":"epitome_recall","input":{"artifact":"x"}}]`
	if !ok || string(r.Said) != want || r.Calls[0].Arguments != `{"artifact":"x"}` || strings.Contains(out, "tool_use") {
		t.Errorf("%v, the client gets %s, and the round is %s", ok, out, r.Said)
	}
	h.Begin(false)
	end := `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`
	start := `{"type":"message_start","message":{"usage":{"input_tokens":20,"output_tokens":1}}}`
	if got, _ := h.Event(nil, event(start), []byte(start)); len(got) > 0 {
		t.Errorf("a second beginning: %s", got)
	}
	got, ends := h.Event(nil, append([]byte("event: message_delta\n"), event(end)...), []byte(end))
	if want := "event: message_delta\ndata: " + strings.Replace(end, `{"output_tokens":2}`, `{"input_tokens":25,"output_tokens":11}`, 1) +
		"\n\n"; string(got) != want || !ends {
		t.Errorf("the end is %s, want %s", got, want)
	}
}
