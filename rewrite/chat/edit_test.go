package chat

import (
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

func TestEdits(t *testing.T) {
	d := Dialect{}
	f := func(edit func(r *conversation.Request) []jsonspan.Edit, body, want string) {
		t.Helper()
		r := read(t, body)
		got, err := jsonspan.Splice(r.Body, edit(r))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", body, got, err, want)
		}
	}
	last := func(r *conversation.Request) *conversation.Item { return &r.Items[len(r.Items)-1] }
	edits := func(e jsonspan.Edit, ok bool) []jsonspan.Edit {
		if !ok {
			return nil
		}
		return []jsonspan.Edit{e}
	}

	replace := func(r *conversation.Request) []jsonspan.Edit { return d.ReplaceContent(r, last(r), "n\"") }
	f(replace, `{"messages":[ {"role":"tool","tool_call_id":"1","content":"old"} ]}`,
		`{"messages":[ {"role":"tool","tool_call_id":"1","content":"n\""} ]}`)
	f(replace, `{"messages":[{"content" : [{"type":"image_url"}, "b"] ,"role":"user"}]}`,
		`{"messages":[{"content" : "n\"" ,"role":"user"}]}`)
	f(replace, `{"messages":[{"role":"tool","tool_call_id":"1","content":{"a":1}}]}`,
		`{"messages":[{"role":"tool","tool_call_id":"1","content":"n\""}]}`)
	f(replace, `{"messages":[{"role":"assistant","content":null}]}`, `{"messages":[{"role":"assistant","content":null}]}`)

	add := func(r *conversation.Request) []jsonspan.Edit { return edits(d.Append(r, last(r), "\nb")) }
	f(add, `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":"a\nb"}]}`)
	f(add, `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"\nb"}]}]}`)
	f(add, `{"messages":[{"role":"user"}]}`, `{"messages":[{"role":"user"}]}`)

	system := func(r *conversation.Request) []jsonspan.Edit { return edits(d.AppendSystem(r, "b")) }
	f(system, `{"messages":[{"role":"developer","content":"a"},{"role":"user","content":"u"}]}`,
		`{"messages":[{"role":"developer","content":"a\n\nb"},{"role":"user","content":"u"}]}`)
	f(system, `{"messages":[ {"role":"user","content":"u"}]}`,
		`{"messages":[{"role":"system","content":"b"}, {"role":"user","content":"u"}]}`)
	f(system, `{"messages":[]}`, `{"messages":[]}`)

	drop := func(r *conversation.Request) []jsonspan.Edit {
		list, err := conversation.DropItems(r, []conversation.Drop{{First: 1, Count: 3, Message: d.UserMessage("s")}})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	f(drop, `{"messages":[`+task+` , `+two+`,`+one+`, `+other+` ,`+done+` ],"n":1}`,
		`{"messages":[`+task+` , {"role":"user","content":"s"},`+done+` ],"n":1}`)
}
