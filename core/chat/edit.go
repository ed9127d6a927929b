package chat

import (
	"epitome/core/conversation"
	"epitome/core/jsonspan"
)

// message returns a message with a text.
func message(role conversation.Role, text string) []byte {
	b := append([]byte(`{"role":"`), role.String()...)
	return append(jsonspan.AppendQuoted(append(b, `","content":`...), text), '}')
}

// UserMessage returns a message of the user.
func (Dialect) UserMessage(text string) []byte { return message(conversation.User, text) }

// TextPart returns a part of a content that says text.
func (Dialect) TextPart(_ *conversation.Item, text string) []byte {
	return append(jsonspan.AppendQuoted([]byte(`{"type":"text","text":`), text), '}')
}

// ReplaceContent puts one string in the place of a content, which may be one wherever the API has content.
func (Dialect) ReplaceContent(_ *conversation.Request, it *conversation.Item, text string) []jsonspan.Edit {
	if it.Content.Empty() {
		return nil
	}
	return []jsonspan.Edit{{Span: it.Content, With: jsonspan.AppendQuoted(nil, text)}}
}

// Append adds text at the end of a content that is a string, or as one more part.
func (d Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e jsonspan.Edit, ok bool) {
	switch {
	case it.Content.Empty():
		return e, false
	case r.Body[it.Content.Start] == '"':
		return jsonspan.AddText(it.Content, text), true
	case jsonspan.HasElements(r.Body, it.Content):
		return jsonspan.AddElement(r.Body, it.Content, d.TextPart(it, text)), true
	}
	return e, false
}

// AppendSystem adds text to the last of the leading system messages, as many servers take no other one behind that, or
// puts a message before all others.
func (d Dialect) AppendSystem(r *conversation.Request, text string) (e jsonspan.Edit, ok bool) {
	if len(r.Items) == 0 {
		return e, false
	}
	said := message(conversation.System, text)
	if r.Lead == 0 {
		at := r.Items[0].Start
		return jsonspan.Edit{Span: jsonspan.Span{Start: at, End: at}, With: append(said, ',')}, true
	}
	last := &r.Items[r.Lead-1]
	if e, ok = d.Append(r, last, "\n\n"+text); ok {
		return e, true
	}
	at := last.End
	return jsonspan.Edit{Span: jsonspan.Span{Start: at, End: at}, With: append([]byte{','}, said...)}, true
}

// Mark is false: the API has no marks for a cache. Those that some servers take are left as they are.
func (Dialect) Mark([]byte, string) ([]byte, bool) { return nil, false }

// MarksBeside is 0 of 0.
func (Dialect) MarksBeside(*conversation.Request) (n, most int) { return 0, 0 }
