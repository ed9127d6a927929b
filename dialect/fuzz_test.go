package dialect

import (
	"reflect"
	"testing"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
)

var names = []string{"chat", "messages", "responses"}

// Of any body that can be read, items lie in their order, each can get another content, and it reads the same with and
// without what was read before.
func FuzzRead(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"do"},{"role":"assistant","content":"","tool_calls":[{"id":"1","function":`+
		`{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}]}`, "")
	f.Add(`{"messages":[{"role":"user","content":[{"image_url":{"url":"x"}},{"text":"a"},"b"]}]}`, `{"messages":[]}`)
	f.Add(`{"system":[{"text":"x","cache_control":{}}],"messages":[{"role":"assistant","content":[{"type":"thinking",`+
		`"thinking":"hm","signature":"s"},{"type":"tool_use","id":"1","name":"a","input":{}}]},{"role":"user","content":[`+
		`{"type":"tool_result","tool_use_id":"1","content":[{}]},{"type":"image","source":{"data":"x"}},7]}]}`, "")
	f.Add(`{"input":[{"role":"user","content":"do"},{"type":"function_call","call_id":"1","name":"a","arguments":"{}"},`+
		`{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"r"}]}]}`, `{"input":"x"}`)
	f.Add(`{"input":[{"type":"local_shell_call","id":"1","action":{"command":["ls"]}},{"type":"local_shell_call_output",`+
		`"id":7},{"type":"hologram"}]}`, `{"input":[{"type":"local_shell_call","id":"1"}]}`)
	f.Fuzz(func(t *testing.T, body, before string) {
		for _, name := range names {
			d, _ := Of(name, nil)
			known, _ := conversation.Read(d, []byte(before), nil)
			r, err := conversation.Read(d, []byte(body), known)
			if err != nil {
				continue
			}
			r.Check()
			at := 0
			for i := range r.Items {
				it := &r.Items[i]
				if it.Start < at || it.Start >= it.End || it.Start < it.MessageSpan().Start || it.End > it.MessageSpan().End {
					t.Fatalf("%s, %q: item at %v in %v behind %d", name, body, it.Span, it.MessageSpan(), at)
				}
				at = it.End
				out, err := jsonspan.Splice(r.Body, r.ReplaceContent(it, "stub"), nil)
				if err != nil || jsonspan.Valid(r.Body) && !jsonspan.Valid(out) {
					t.Fatalf("%s, %q becomes %q: %v", name, body, out, err)
				}
			}
			alone, err := conversation.Read(d, []byte(body), nil)
			if err != nil || !reflect.DeepEqual(alone.Chain(), r.Chain()) || len(r.Chain()) != len(r.Items)+1 {
				t.Fatalf("%s, %q is read otherwise behind %q: %v", name, body, before, err)
			}
			again, err := conversation.Read(d, []byte(body), r)
			if err != nil || !reflect.DeepEqual(again.Chain(), r.Chain()) || !reflect.DeepEqual(again.Items, r.Items) {
				t.Fatalf("%s, %q is read otherwise once it is known: %v", name, body, err)
			}
		}
	})
}

// Whatever an answer says, no count in it is below zero.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":3}}`))
	f.Add([]byte(`{"usage":{"input_tokens":3,"iterations":[{"type":"message","iterations":[]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range names {
			d, _ := Of(name, nil)
			answer.StepOf(d, answer.Event{Data: data})
			u, input := d.Usage(data)
			a, _ := answer.Read(d, data)
			if u.Input < 0 || u.Read < 0 || u.Output < 0 || input < 0 || a.Input < 0 || a.Cached > a.Input {
				t.Fatalf("%s, %q: %+v, %d, %+v", name, data, u, input, a)
			}
		}
	})
}
