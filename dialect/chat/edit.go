package chat

import (
	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
)

func message(role conversation.Role, text string) []byte {
	return []byte(`{"role":"` + role.String() + `","content":` + jsonspan.Quoted(text) + `}`)
}

func (Dialect) UserMessage(text string) []byte { return message(conversation.User, text) }

// ReplaceContent replaces the whole content by a string, which the API takes wherever it takes a list of parts.
func (Dialect) ReplaceContent(_ *conversation.Request, it *conversation.Item, text string) []jsonspan.Edit {
	if it.Content.Empty() { // the message has only calls
		return nil
	}
	return []jsonspan.Edit{{Span: it.Content, With: jsonspan.AppendQuoted(nil, text)}}
}

func (Dialect) TextPart(text string) []byte {
	return []byte(`{"type":"text","text":` + jsonspan.Quoted(text) + `}`)
}

func (d Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e jsonspan.Edit, ok bool) {
	return jsonspan.AddTo(r.Body, it.Content, text, d.TextPart(text))
}

// AddResults puts a message for each result behind the answer.
func (Dialect) AddResults(r *conversation.Request, i int, results []conversation.Result, _ bool) jsonspan.Edit {
	list := ""
	for _, result := range results {
		list += `,{"role":"tool","tool_call_id":` + jsonspan.Quoted(result.ID) +
			`,"content":` + jsonspan.Quoted(result.Text) + "}"
	}
	return jsonspan.Insert(r.Items[i].End, list)
}

// AppendSystem adds text to the last of the leading system messages (r.Lead is their number), as many servers take no
// further one. If there is none, it puts one before all messages.
func (d Dialect) AppendSystem(r *conversation.Request, text string) (e jsonspan.Edit, ok bool) {
	if r.Lead > 0 {
		return d.Append(r, &r.Items[r.Lead-1], "\n\n"+text)
	}
	if len(r.Items) == 0 { // the comma behind the new message would be one too many
		return e, false
	}
	return jsonspan.Insert(r.List, string(message(conversation.System, text))+","), true
}
