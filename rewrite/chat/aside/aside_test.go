package aside

import (
	"strings"
	"testing"

	"epitome/rewrite/aside"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// read reads a request with these messages.
func read(t *testing.T, body string) *conversation.Request {
	t.Helper()
	r, err := chat.Read([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheToolComesLast(t *testing.T) {
	const tool = `{"type":"function","function":{"name":"epitome_recall","description":"d","parameters":{}}}`
	f := func(beside, want string) {
		t.Helper()
		r := read(t, `{"messages":[]`+beside+`}`)
		edits, ok := Dialect{}.Declare(r, aside.Declaration{Description: "d", Schema: []byte("{}")})
		got, err := span.Splice(r.Body, edits)
		if want == "" && ok || want != "" && (!ok || err != nil || string(got) != `{"messages":[]`+want+`}`) {
			t.Errorf("%s: %v, %v %s", beside, ok, err, got)
		}
	}
	f("", `,"tools":[`+tool+`]`)
	f(`,"tools":null`, `,"tools":[`+tool+`]`)
	f(`,"tools":[ ]`, `,"tools":[ `+tool+`]`)
	f(`,"tools":[{"a":1} ] ,"x":2`, `,"tools":[{"a":1} ,`+tool+`] ,"x":2`)
	f(`,"tool_choice":{"type":"function","function":{"name":"a"}},"n":1`,
		`,"tool_choice":{"type":"function","function":{"name":"a"}},"n":1,"tools":[`+tool+`]`)
	f(`,"n":2`, "")
	f(`,"functions":[{"name":"a"}]`, "")
	f(`,"tools":[{"type":"function","function":{"name":"epitome_recall"}}]`, "")
	f(`,"tools":{}`, "")
}

func TestRoundsStandWhereTheyWereSaid(t *testing.T) {
	rounds := []aside.Round{{Said: []byte(`{"said":1}`), Given: "Let me look.",
		Calls: []aside.Call{{ID: "a", Result: "found"}, {ID: "b", Result: "more"}}}}
	const said = `{"said":1},{"role":"tool","tool_call_id":"a","content":"found"},{"role":"tool","tool_call_id":"b","content":"more"},`
	hidden := []aside.Call{{ID: "h", At: 0, Raw: []byte(`{"id":"h"}`), Result: "r"}, {ID: "i", At: 1, Raw: []byte(`{"id":"i"}`)}}
	f := func(rec aside.Record, message, want string) {
		t.Helper()
		const before, behind = `{"messages":[{"role":"user","content":"u"}, `, ` ,{"role":"user","content":"v"}]}`
		r := read(t, before+message+behind)
		edits, ok := Dialect{}.Weave(r, conversation.Group{First: 1, End: 2}, &rec)
		got, err := span.Splice(r.Body, edits)
		if want == "" && ok || want != "" && (err != nil || string(got) != before+want+behind) {
			t.Errorf("%s: %v, %v %s", message, ok, err, got)
		}
	}
	only := aside.Record{Rounds: rounds}
	f(only, `{"role":"assistant","content":"Let me look.\n\nIt is 7."}`, said+`{"role":"assistant","content":"It is 7."}`)
	f(only, `{"content":"Let  me look. It is 7.", "role":"assistant"}`, said+`{"content":"It is 7.", "role":"assistant"}`)
	f(only, `{"role":"assistant","content":[{"type":"text","text":"Let me look.\n\nSo."}]}`,
		said+`{"role":"assistant","content":[{"type":"text","text":"So."}]}`)
	part := func(text string) string { return `{"type":"text","text":"` + text + `"}` }
	parts := func(list ...string) string {
		return `{"role":"assistant","content":[ ` + strings.Join(list, " , ") + ` ]`
	}
	f(only, parts(part("Let me look."), part("It is 7."))+"}", said+parts(part("It is 7."))+"}")
	f(only, parts(part("Let me"), part(" look.\n\nIt is"), part(" 7."))+"}", said+parts(part("It is")+","+part(" 7."))+"}")
	f(only, parts(part(""), part("Let me look."), part("\n\n"), part("So."))+"}", said+parts(part("So."))+"}")
	f(only, parts(part("Let me look."))+`,"tool_calls":[{"id":"x"}]}`,
		said+`{"role":"assistant","content":null,"tool_calls":[{"id":"x"}]}`)
	f(only, parts(part("Let me "), part("look."))+"}", said+`{"role":"assistant","content":""}`)
	f(only, parts(part("Let me "), part("look."))+`,"tool_calls":[{"id":"x"}]}`,
		said+`{"role":"assistant","content":null,"tool_calls":[{"id":"x"}]}`)
	f(only, parts(`{"type":"thinking"}`, part("Let me look."), part("So."))+"}",
		said+parts(`{"type":"thinking"}`+","+part("So."))+"}")
	f(only, parts(`{"type":"thinking"}`, part("Let me look."))+"}", said+parts(`{"type":"thinking"}`)+"}")
	f(only, `{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		said+`{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}`)
	f(aside.Record{Last: hidden}, `{"role":"assistant","content":null,"tool_calls":[{"id":"x"}]}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"h"},{"id":"x"},{"id":"i"}]},`+
			`{"role":"tool","tool_call_id":"h","content":"r"},{"role":"tool","tool_call_id":"i","content":""}`)
	f(aside.Record{Last: hidden}, `{"role":"assistant","content":"no call"}`, "")
}

// hears plays rounds of streams to one hearing, and returns what the client gets, with rounds told between.
func hears(last bool, rounds ...[]string) (out string, h aside.Hearing) {
	h = Dialect{}.Hear()
	for i, events := range rounds {
		h.Begin(last && i == len(rounds)-1)
		for _, data := range events {
			raw := []byte("data: " + data + "\n\n")
			got, ends := h.Event(nil, raw, []byte(data))
			if out += string(got); ends {
				out += "(end)"
			}
		}
		if r, ok := h.Round(); ok {
			out += "(round " + string(r.Said) + ")"
		}
	}
	return out, h
}

func TestPiecesAreHeardAsOneAnswer(t *testing.T) {
	piece := func(id, delta, why string) string {
		return `{"id":"` + id + `","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + why + `}]}`
	}
	call := func(rest string) string { return `{"tool_calls":[{` + rest + `}]}` }
	ours := `"index":0,"id":"c1","function":{"name":"epitome_recall","arguments":""}`
	f := func(last bool, want string, rounds ...[]string) {
		t.Helper()
		got, _ := hears(last, rounds...)
		got = strings.NewReplacer("data: ", "", "\n\n", "\n").Replace(got)
		if want = strings.TrimSpace(want); strings.TrimSpace(got) != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	whole := []string{piece("r", `{"role":"assistant","content":"Hi"}`, "null"), piece("r", "{}", `"stop"`), "[DONE]"}
	f(false, whole[0]+"\n"+whole[1]+"\n(end)[DONE]\n(end)", whole)
	asks := []string{
		piece("a", `{"role":"assistant","content":"","reasoning_content":"hm"}`, "null"), piece("a", `{"content":"Well"}`, "null"),
		piece("a", call(ours), "null"), piece("a", call(`"index":0,"function":{"arguments":"{\"a\":"}`), "null"),
		piece("a", call(`"index":0,"function":{"arguments":"1}"}`), "null"), piece("a", "{}", `"tool_calls"`),
		`{"id":"a","choices":[],"usage":{"n":1}}`, "[DONE]",
	}
	said := `(round {"content":"Well","reasoning_content":"hm","role":"assistant","tool_calls":[{"function":` +
		`{"arguments":"{\"a\":1}","name":"epitome_recall"},"id":"c1"}]})`
	tells := []string{
		piece("b", `{"role":"assistant","content":""}`, "null"), piece("b", `{"content":"7"}`, "null"), piece("b", "{}", `"stop"`),
		`{"id":"b","choices":[],"usage":{"n":2}}`, "[DONE]",
	}
	f(false, asks[0]+"\n"+asks[1]+"\n"+said+piece("a", `{"content":"\n\n7"}`, "null")+"\n"+piece("a", "{}", `"stop"`)+
		"\n(end)"+`{"id":"a","choices":[],"usage":{"n":3}}`+"\n[DONE]\n(end)", asks, tells)
	f(true, asks[0]+"\n"+asks[1]+"\n"+piece("a", "{}", `"stop"`)+"\n(end)"+asks[6]+"\n[DONE]\n(end)", asks)
	mixed := []string{
		piece("a", `{"tool_calls":[{`+ours+`},{"index":1,"id":"c2","function":{"name":"own","arguments":""}}]}`, "null"),
		piece("a", call(`"index":1,"function":{"arguments":"{}"}`), "null"),
		piece("a", call(`"index":0,"function":{"arguments":"{}"}`), "null"), piece("a", "{}", `"tool_calls"`), "[DONE]",
	}
	f(false, piece("a", `{"tool_calls":[{"index":0,"id":"c2","function":{"name":"own","arguments":""}}]}`, "null")+"\n"+
		piece("a", call(`"index":0,"function":{"arguments":"{}"}`), "null")+"\n"+mixed[3]+"\n(end)[DONE]\n(end)", mixed)
	_, h := hears(false, mixed)
	if g, hidden, ok := h.Answer(); !ok || strings.Join(g.Calls, " ") != "c2" || len(hidden) != 1 || hidden[0].At != 0 ||
		hidden[0].Arguments != "{}" {
		t.Errorf("the client was given %v, and %v is hidden", g, hidden)
	}
	f(false, "not JSON\n[DONE]\n(end)", []string{"not JSON", "[DONE]"})
	f(false, `{"error":{"message":"busy"}}`+"\n(end)", []string{`{"error":{"message":"busy"}}`})
}

// Some servers give each call of one answer the index 0, or none.
func TestCallsWithoutIndexesAreToldApart(t *testing.T) {
	one := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"epitome_recall","arguments":"{}"}},` +
		`{"index":0,"id":"b","function":{"name":"own","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	got, h := hears(false, []string{one})
	if strings.Contains(got, "epitome_recall") || !strings.Contains(got, `"id":"b"`) || !strings.Contains(got, "(end)") {
		t.Errorf("the client gets %s", got)
	}
	if g, hidden, ok := h.Answer(); !ok || strings.Join(g.Calls, " ") != "b" || len(hidden) != 1 || hidden[0].ID != "a" {
		t.Errorf("the client was given %v, and %v is hidden", g, hidden)
	}
}

func TestWholeAnswersAreJoined(t *testing.T) {
	h := Dialect{}.Hear()
	h.Begin(false)
	first := `{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":"Well","refusal":null,"annotations":[],` +
		`"tool_calls":[{"id":"c","type":"function","function":{"name":"epitome_recall","arguments":""}}]},` +
		`"finish_reason":"tool_calls"}],"usage":{"n":1}}`
	h.Document([]byte(first))
	r, ok := h.Round()
	if want := `{"role":"assistant","content":"Well","tool_calls":[{"function":{"arguments":"{}","name":"epitome_recall"},` +
		`"id":"c","type":"function"}]}`; !ok || string(r.Said) != want || r.Given != "Well" {
		t.Fatalf("%v %+v", ok, r)
	}
	h.Begin(false)
	got := h.Document([]byte(` {"id":"b","choices":[{"message":{"content":"7","role":"assistant"},"finish_reason":"stop"}],"usage":{"n":2}}`))
	want := ` {"id":"a","choices":[{"message":{"content":"Well\n\n7","role":"assistant"},"finish_reason":"stop"}],"usage":{"n":3}}`
	if _, ok := h.Round(); ok || string(got) != want {
		t.Errorf("%v %s", ok, got)
	}
	f := func(doc string) {
		t.Helper()
		h := Dialect{}.Hear()
		h.Begin(false)
		if got := h.Document([]byte(doc)); string(got) != doc {
			t.Errorf("%s became %s", doc, got)
		}
	}
	f(`{"id":"a","choices":[{"message":{"role":"assistant","content":null,"tool_calls":null},"finish_reason":"stop"}],"usage":{}}`)
	f(`{"error":{"message":"busy"}}`)
	f(`{"choices":"none"}`)
	f("none")
}
