package chat

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Instruct puts a text behind what the system says: into its last message before the conversation, as many servers take
// no other one behind that, or as a message before all others.
func (d Dialect) Instruct(r *conversation.Request, text string) (edits []span.Edit, ok bool) {
	if len(r.Items) == 0 {
		return nil, false
	}
	said := d.Message(conversation.System, text)
	if r.Head == 0 {
		at := r.Items[0].Start
		return []span.Edit{{Span: span.Span{Start: at, End: at}, With: append(said, ',')}}, true
	}
	last := &r.Items[r.Head-1]
	if e, ok := d.Append(r, last, "\n\n"+text); ok {
		return []span.Edit{e}, true
	}
	return []span.Edit{{Span: span.Span{Start: last.End, End: last.End}, With: append([]byte{','}, said...)}}, true
}
