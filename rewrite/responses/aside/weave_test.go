package aside

import (
	"testing"

	"epitome/rewrite/aside"
	"epitome/rewrite/responses"
	"epitome/rewrite/span"
)

// TestRoundsStandWhereTheyWereSaid, also where the client has joined what the model said: as one text, or as parts.
func TestRoundsStandWhereTheyWereSaid(t *testing.T) {
	rec := aside.Record{Rounds: []aside.Round{{Said: []byte(`[{"said":1}]`), Given: "\nLet me look.", Marks: []string{"reasoning\x00e"},
		Calls: []aside.Call{{ID: "c", Result: "found"}}}}}
	const said = `{"said":1},{"type":"function_call_output","call_id":"c","output":"found"}`
	f := func(answer, want string) {
		t.Helper()
		const before, behind = `{"input":[{"role":"user","content":"u"}, `, ` ,{"role":"user","content":"v"}]}`
		r, err := responses.Dialect{}.Read([]byte(before+answer+behind), nil)
		if err != nil {
			t.Fatal(err)
		}
		edits, ok := Dialect{}.Weave(r, r.Groups()[1], &rec)
		got, err := span.Splice(r.Body, edits)
		if want == "" && ok || want != "" && (!ok || err != nil || string(got) != before+want+behind) {
			t.Errorf("%s: %v, %v %s", answer, ok, err, got)
		}
	}
	says := func(content string) string { return `{"role":"assistant","content":` + content + `}` }
	part := func(text string) string { return `{"type":"output_text","text":"` + text + `"}` }
	f(says(`"Let me look."`)+","+says(`"It is 7."`), said+","+says(`"It is 7."`))
	f(says(`"Let me look."`), said)
	f(says(`"Let me look.It is 7."`), said+","+says(`"It is 7."`))
	f(says(`"Let me look.\n\nIt is 7."`), said+","+says(`"It is 7."`))
	f(says(`"Let "`)+","+says(`"me look. It is"`)+","+says(`" 7."`), said+","+says(`"It is"`)+","+says(`" 7."`))
	f(says("["+part("Let me look.")+" , "+part("It is 7.")+"]"), said+","+says("["+part("It is 7.")+"]"))
	f(says("["+part("Let me look. It")+","+part(" is 7.")+"]"), said+","+says("["+part("It")+","+part(" is 7.")+"]"))
	f(says(`"It is 7."`), "")
}
