package chat

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// WholeText returns the one text that is all of a content; ok is false if there is more in it.
func (Dialect) WholeText(body []byte, content span.Span) (text span.Span, ok bool) {
	text, _ = span.SoleText(body, content.Start, plainText)
	return text, !text.Empty()
}

// chatMessage returns a message with a text, as JSON.
func chatMessage(role conversation.Role, text string) string {
	return string(Dialect{}.Message(role, text))
}

// Message returns a message with a text, as JSON.
func (Dialect) Message(role conversation.Role, text string) []byte {
	b := append([]byte(`{"role":"`), role.String()...)
	return append(span.AppendQuoted(append(b, `","content":`...), text), '}')
}

// ReadMessage reads what Message wrote.
func (d Dialect) ReadMessage(message []byte) (*conversation.Request, error) {
	r := &conversation.Request{Body: message, Dialect: d}
	_, err := readItem(r, 0)
	return r, err
}

// Follows is always true: messages stand in any order.
func (Dialect) Follows(_, _ conversation.Role) bool { return true }

// Value writes text as a value: everywhere a JSON string.
func (Dialect) Value(dst, _ []byte, _ conversation.Place, text string) []byte {
	return span.AppendQuoted(dst, text)
}

// Append returns what puts a text behind all that the item says: at the end of its string, or as one more part. ok is
// false for an item that says nothing.
func (Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e span.Edit, ok bool) {
	if it == nil {
		return instruct(r, text)
	}
	if it.Content.Empty() {
		return e, false
	}
	switch {
	case r.Body[it.Content.Start] == '"':
		return span.AddText(it.Content, text), true
	case span.HasElements(r.Body, it.Content):
		part := append(span.AppendQuoted([]byte(`{"type":"text","text":`), text), '}')
		return span.AddElement(r.Body, it.Content, part), true
	}
	return e, false
}
