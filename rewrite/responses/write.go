package responses

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// WholeText returns the one text that is all of a content; ok is false if there is more in it.
func (Dialect) WholeText(body []byte, content span.Span) (text span.Span, ok bool) {
	text, _ = span.SoleText(body, content.Start, plainText)
	return text, !text.Empty()
}

// Message returns a message with a text, as JSON. One of the model's cannot be made: servers want to have given it its
// id.
func (Dialect) Message(role conversation.Role, text string) []byte {
	switch role {
	case conversation.User:
		return append(appendText([]byte(`{"type":"message","role":"user","content":[`), text), `]}`...)
	case conversation.System:
		return append(appendText([]byte(`{"type":"message","role":"developer","content":[`), text), `]}`...)
	}
	return nil
}

// Follows reports whether an item may stand behind another. Two of the model's would be one.
func (Dialect) Follows(before, role conversation.Role) bool {
	return before != conversation.Assistant || role != conversation.Assistant
}

// Value writes text as a value where was stands: as it is in the place of a call's input that is no string, as the one
// part of a list in the place of a list, as what a command has written in the place of that, and else as a JSON string.
func (Dialect) Value(dst, was []byte, at conversation.Place, text string) []byte {
	switch {
	case at == conversation.CallInput && was[0] != '"':
		return append(dst, text...)
	case at == conversation.EncodedText:
		return span.AppendQuoted(dst, string(span.AppendQuoted(nil, text)))
	case at == conversation.WholeContent && was[0] == '[':
		if chunks, ok := appendChunks(dst, was, text); ok {
			return chunks
		}
		dst = appendText(append(dst, '['), text)
		if mark := lastMark(was); !mark.Empty() {
			dst = append(append(dst[:len(dst)-1], `,"`+breakpoint+`":`...), mark.Of(was)...)
			dst = append(dst, '}')
		}
		return append(dst, ']')
	}
	return span.AppendQuoted(dst, text)
}

// lastMark is what the last mark for the provider's cache says that is on a part of the list; empty if none is.
func lastMark(list []byte) (mark span.Span) {
	_, err := span.Elements(list, 0, func(i int) (int, error) {
		if list[i] != '{' {
			return span.EndOfValue(list, i)
		}
		return span.Members(list, i, func(key []byte, i int) (int, error) {
			end, err := span.EndOfValue(list, i)
			if err != nil || string(key) != breakpoint {
				return end, err
			}
			if v := span.UnlessNull(list, span.Span{Start: i, End: end}); !v.Empty() {
				mark = v
			}
			return end, nil
		})
	})
	if err != nil {
		return span.Span{}
	}
	return mark
}

// appendText writes a part with a text.
func appendText(dst []byte, text string) []byte {
	return append(span.AppendQuoted(append(dst, `{"type":"input_text","text":`...), text), '}')
}

// appendChunks writes a list of what a command has written with the text in the first place of it, and nothing else.
// How it ended stays. ok is false if was is no such list.
func appendChunks(dst, was []byte, text string) (list []byte, ok bool) {
	var edits []span.Edit
	_, err := span.Elements(was, 0, func(i int) (int, error) {
		end, err := span.EndOfValue(was, i)
		if err != nil || was[i] != '{' {
			return end, err
		}
		p, err := readPart(was, i)
		if err != nil || !isChunk(&p) {
			return end, err
		}
		for _, v := range [...]span.Span{p.first("stdout"), p.first("stderr")} {
			if v.Empty() {
				continue
			}
			with := span.AppendQuoted(nil, text)
			text, ok = "", true
			edits = append(edits, span.Edit{Span: v, With: with})
		}
		return end, nil
	})
	if err != nil || !ok {
		return nil, false
	}
	list, err = span.Splice(was, edits)
	return append(dst, list...), err == nil
}

// Append returns what puts a text behind all that the user says in an item: at the end of its string, or as one more
// part. ok is false for items of others, and for those that never change.
func (Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e span.Edit, ok bool) {
	if it == nil {
		return instruct(r, text)
	}
	if it.Role != conversation.User || it.Locked || it.Content.Empty() {
		return e, false
	}
	switch {
	case r.Body[it.Content.Start] == '"':
		return span.AddText(it.Content, text), true
	case span.HasElements(r.Body, it.Content):
		return span.AddElement(r.Body, it.Content, appendText(nil, text)), true
	}
	return e, false
}
