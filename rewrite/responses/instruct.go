package responses

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// instruct puts a text behind what the system says: into its last message before the conversation, or as a message of
// its own before all others. It stays out of the instructions, as a provider that keeps a conversation keeps no
// instructions with it.
func instruct(r *conversation.Request, text string) (e span.Edit, ok bool) {
	if len(r.Items) == 0 {
		return e, false
	}
	said := Dialect{}.Message(conversation.System, text)
	first := &r.Items[0]
	switch {
	case r.Body[first.Start] == '"': // the input is a text, which becomes the one of a message
		with := append(append([]byte{'['}, said...), `,{"type":"message","role":"user","content":`...)
		return span.Edit{Span: first.Span, With: append(append(with, first.Of(r.Body)...), `}]`...)}, true
	case r.Head == 0:
		return insert(first.Place().Start, append(said, ',')), true
	}
	last := &r.Items[r.Head-1]
	if at := last.Content; !last.Locked && !at.Empty() {
		switch {
		case r.Body[at.Start] == '"':
			return span.AddText(at, "\n\n"+text), true
		case span.HasElements(r.Body, at):
			return span.AddElement(r.Body, at, appendText(nil, text)), true
		}
	}
	return insert(last.Place().End, append([]byte{','}, said...)), true
}

// insert is what puts something before byte i.
func insert(i int, with []byte) span.Edit {
	return span.Edit{Span: span.Span{Start: i, End: i}, With: with}
}
