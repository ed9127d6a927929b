package chat

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// WholeText returns the one text that is all of a content; ok is false if there is more in it.
func (Dialect) WholeText(body []byte, content span.Span) (text span.Span, ok bool) {
	if body[content.Start] != '[' {
		return text, false
	}
	text, _ = soleText(body, content.Start)
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

// Value writes text as a value at a place: everywhere a JSON string.
func (Dialect) Value(dst []byte, _ conversation.Place, text string) []byte {
	return span.AppendQuoted(dst, text)
}

// Append returns what puts a text behind all that the item says: at the end of its string, or as one more part. ok is
// false for an item that says nothing.
func (Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e span.Edit, ok bool) {
	if it.Content.Empty() {
		return e, false
	}
	quoted := span.AppendQuoted(nil, text)
	at := span.Span{Start: it.Content.End - 1, End: it.Content.End - 1}
	switch content := it.Content.Of(r.Body); {
	case content[0] == '"':
		return span.Edit{Span: at, With: quoted[1 : len(quoted)-1]}, true
	case content[0] == '[' && content[span.SkipSpace(content, 1)] != ']':
		return span.Edit{Span: at, With: append(append([]byte(`,{"type":"text","text":`), quoted...), '}')}, true
	}
	return e, false
}

// Run returns the place of n items, from item i of all on.
func (Dialect) Run(r *conversation.Request, i, n int) span.Span {
	return span.Span{Start: r.Items[i].Start, End: r.Items[i+n-1].End}
}

// Remove puts the message with in the place of n items, from item i of all on. Without a message it takes them out,
// with what parts them from the next item.
func (d Dialect) Remove(r *conversation.Request, i, n int, with []byte) []span.Edit {
	place := d.Run(r, i, n)
	if next := i + n; len(with) == 0 && next < len(r.Items) {
		place.End = r.Items[next].Start
	}
	return []span.Edit{{Span: place, With: with}}
}

// Truncate takes out all items from item i of all on, which is not the first.
func (Dialect) Truncate(r *conversation.Request, i int) []span.Edit {
	return []span.Edit{{Span: span.Span{Start: r.Items[i-1].End, End: r.Items[len(r.Items)-1].End}, With: nil}}
}
