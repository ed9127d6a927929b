package aside

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/span"
)

// TestMarksForTheCacheStandWhereTheClientHasThem: on the block of a round that it was given, however it joins them.
func TestMarksForTheCacheStandWhereTheClientHasThem(t *testing.T) {
	const (
		mark    = `"cache_control":{"type":"ephemeral"}`
		thought = `{"type":"thinking","thinking":"hm","signature":"s1"}`
		search  = `{"type":"server_tool_use","id":"st","name":"web_search","input":{}`
		last    = `{"type":"text","text":"It is 7."`
	)
	rounds := []aside.Round{
		{Said: []byte(`[` + thought + `,{"type":"text","text":"Well. "},{"type":"text","text":"I look."},{"id":"c"}]`),
			Given: "\nWell. \nI look.", Marks: []string{"thinking\x00\x00\x00s1\x00"}, Calls: []aside.Call{{ID: "c", Result: "found"}}},
		{Said: []byte(`[` + search + `},{"type":"text","text":"Again."},{"id":"d"}]`), Given: "\nAgain.",
			Marks: []string{"server_tool_use\x00st\x00\x00\x00"}, Calls: []aside.Call{{ID: "d", Result: "more"}}},
	}
	f := func(content, one, two, three, four, end string) {
		t.Helper()
		const before, behind = `{"messages":[{"role":"user","content":"u"},`, `,{"role":"user","content":"v"}]}`
		r, err := messages.Dialect{}.Read([]byte(before+`{"role":"assistant","content":[`+thought+`,`+content+`]}`+behind), nil)
		if err != nil {
			t.Fatal(err)
		}
		edits, ok := Dialect{}.Weave(r, conversation.Group{First: 1, End: 2}, &aside.Record{Rounds: rounds})
		got, err := span.Splice(r.Body, edits)
		want := before + `{"role":"assistant","content":[` + thought + `,{"type":"text","text":"Well. "` + one + `},{"type":"text",` +
			`"text":"I look."` + two + `},{"id":"c"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"found"}]},` +
			`{"role":"assistant","content":[` + search + three + `},{"type":"text","text":"Again."` + four + `},{"id":"d"}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"d","content":"more"}]}` + end + behind
		if !ok || err != nil || string(got) != want {
			t.Errorf("%s: %v, %v\n%s\nwant\n%s", content, ok, err, got, want)
		}
	}
	const m = "," + mark
	text := func(say, mark string) string { return `{"type":"text","text":"` + say + `"` + mark + `},` }
	said := `,{"role":"assistant","content":[` + last
	f(text("Well.", m)+text("I look.", "")+search+"},"+text("Again.", "")+last+"}", m, "", "", "", said+"}]}")
	f(text("Well.", "")+text("I look.", m)+search+"},"+text("Again.", m)+last+"}", "", m, "", m, said+"}]}")
	f(text("Well. I look.", m)+search+"},"+text("Again. ", "")+last+m+"}", "", m, "", "", said+m+"}]}")
	f(text("Well.I look.", "")+search+m+"},"+text("Again.", "")+last+"}", "", "", m, "", said+"}]}")
	f(text("Well.I look.", "")+search+"},"+text("Again. It is 7.", m)+last+"}", "", "", "", "",
		`,{"role":"assistant","content":[{"type":"text","text":"It is 7."`+m+`},`+last+"}]}")
	f(text("Well.I look.", "")+search+`},{"type":"text","text":"Again."`+m+"}", "", "", "", m, "")
}

// TestAMarkIsPutOnce, however many blocks look like the one that has it: the server takes four.
func TestAMarkIsPutOnce(t *testing.T) {
	block := `{"type":"container_upload","file_id":"f"}`
	said := `[` + block + `,{"type":"tool_use","id":"c","name":"epitome_recall","input":{}}]`
	rounds := []aside.Round{{Said: []byte(said)}, {Said: []byte(said)}}
	b := gjson.Parse(strings.Replace(block, "}", `,"cache_control":{"type":"ephemeral"}}`, 1))
	var all string
	for _, r := range marked(rounds, addMark(nil, b, 0)) {
		all += string(r.Said)
	}
	if strings.Count(all, "cache_control") != 1 {
		t.Errorf("the marks are in %s", all)
	}
}
