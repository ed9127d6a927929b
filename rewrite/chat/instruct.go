package chat

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// instruct puts a text behind what the system says: into its last message before the conversation, as many servers take
// no other one behind that, or as a message before all others.
func instruct(r *conversation.Request, text string) (e span.Edit, ok bool) {
	if len(r.Items) == 0 {
		return e, false
	}
	said := chatMessage(conversation.System, text)
	if r.Head == 0 {
		at := r.Items[0].Start
		return span.Edit{Span: span.Span{Start: at, End: at}, With: []byte(said + ",")}, true
	}
	last := &r.Items[r.Head-1]
	if e, ok = (Dialect{}).Append(r, last, "\n\n"+text); ok {
		return e, true
	}
	return span.Edit{Span: span.Span{Start: last.End, End: last.End}, With: []byte("," + said)}, true
}
