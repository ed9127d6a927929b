package messages

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// WholeText returns the one text that is all of a content; ok is false if there is more in it.
func (Dialect) WholeText(body []byte, content span.Span) (text span.Span, ok bool) {
	text, _ = span.SoleText(body, content.Start, plainText)
	return text, !text.Empty()
}

// Message returns a message with a text, as JSON.
func (Dialect) Message(role conversation.Role, text string) []byte {
	b := append([]byte(`{"role":"`), role.String()...)
	return append(span.AppendQuoted(append(b, `","content":`...), text), '}')
}

// Follows reports whether a message may stand behind another: one of the system stands behind one of the user, and
// before one of the model. The first is the user's.
func (Dialect) Follows(before, role conversation.Role) bool {
	switch before {
	case conversation.Unknown:
		return role != conversation.System && role != conversation.Assistant
	case conversation.System:
		return role == conversation.Assistant || role == conversation.System
	case conversation.Assistant:
		return role != conversation.System
	}
	return true
}

// Value writes text as a value where was stands: as it is in the place of a call's input, which is JSON, as a block in
// the place of blocks, and else as a JSON string.
func (Dialect) Value(dst, was []byte, at conversation.Place, text string) []byte {
	switch {
	case at == conversation.CallInput && was[0] != '"':
		return append(dst, text...)
	case at == conversation.WholeContent && was[0] == '{':
		return appendText(dst, text)
	}
	return span.AppendQuoted(dst, text)
}

// appendText writes a block with a text.
func appendText(dst []byte, text string) []byte {
	return append(span.AppendQuoted(append(dst, `{"type":"text","text":`...), text), '}')
}

// Append returns what puts a text behind all that the user says in an item: at the end of its string, or as one more
// block. ok is false for items of others, and for those that never change.
func (Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e span.Edit, ok bool) {
	if it == nil {
		return instruct(r, text)
	}
	if it.Role != conversation.User || it.Locked || it.Content.Empty() {
		return e, false
	}
	switch at := it.Content.End; r.Body[it.Content.Start] {
	case '"':
		return span.AddText(it.Content, text), true
	case '{':
		return span.Edit{Span: span.Span{Start: at, End: at}, With: appendText([]byte{','}, text)}, true
	}
	return e, false
}
