package plan

import (
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/messages"
)

// A message of the model's may not come to stand in front of one that thinks: the answer would not begin with thoughts.
// What says nothing begins no answer, and a part of a message is something whatever it is.
func TestNothingComesBetweenAnAnswerAndItsThoughts(t *testing.T) {
	const (
		head   = `{"messages":[{"role":"user","content":"go"}`
		call   = `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"bash","input":{}}]}`
		result = `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"done"}]}`
		empty  = `,{"role":"assistant","content":""}`
		search = `,{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]}`
		thinks = `,{"role":"assistant","content":[{"type":"thinking","thinking":"so","signature":"x"},{"type":"text","text":"So."}]}`
		user   = `,{"role":"user","content":"and"}`
	)
	f := func(body string, role conversation.Role, want bool) {
		t.Helper()
		r, err := messages.Dialect{}.Read([]byte(body+"]}"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := &Plan{Req: r, Forms: make([]*decision.Form, len(r.Items)-r.Head)}
		p.Forms[1] = &decision.Form{Fold: 2, With: string(r.Dialect.Message(role, "left out"))}
		p.Forms[2] = &decision.Form{Gone: true}
		if got := BreaksOrder(p); got != want {
			t.Errorf("%s: with a message of the %s's in the place of the call the order breaks: %v", body, role, got)
		}
	}
	const model, client = conversation.Assistant, conversation.User
	f(head+call+result+thinks, model, true)
	f(head+call+result+thinks, client, false)
	f(head+call+result+empty+thinks, model, true)
	f(head+call+result+search+user, model, false)
	f(head+call+result+search+thinks, client, false) // it came so
}
