package responses

import (
	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
)

// ReplaceContent puts a text in the place of all that an item says. The outputs of a command are replaced one by one,
// the first by text and the others by nothing, which keeps its exit codes. A single text is replaced within its part,
// which keeps its cache mark. Else a string replaces the whole content: the API takes one for any list of parts.
func (Dialect) ReplaceContent(_ *conversation.Request, it *conversation.Item, text string) (edits []jsonspan.Edit) {
	if it.Content.Empty() || it.Locked {
		return nil
	}
	isText := len(it.Parts) > 0 && it.Parts[0].Kind == conversation.TextPart
	isOutput := isText && it.Parts[0].Empty() // of a command: only the texts that addPart finds there have no span
	if !isOutput && (!isText || len(it.Parts) > 1) {
		return []jsonspan.Edit{{Span: it.Content, With: jsonspan.AppendQuoted(nil, text)}}
	}
	for k := range it.Parts {
		edits = append(edits, conversation.ReplaceText(&it.Parts[k], text))
		text = ""
	}
	return edits
}

func (Dialect) TextPart(text string) []byte {
	return []byte(`{"type":"input_text","text":` + jsonspan.Quoted(text) + `}`)
}

func (Dialect) UserMessage(text string) []byte { return message("user", text) }

func message(role, text string) []byte {
	return []byte(`{"type":"message","role":"` + role + `","content":[` + string(Dialect{}.TextPart(text)) + `]}`)
}

func (d Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e jsonspan.Edit, ok bool) {
	if it.Role != conversation.User || it.Locked {
		return e, false
	}
	return jsonspan.AddTo(r.Body, it.Content, text, d.TextPart(text))
}

// AddResults puts an entry for each result behind the answer, as the output of a function or of a custom tool.
func (Dialect) AddResults(r *conversation.Request, i int, results []conversation.Result, _ bool) jsonspan.Edit {
	list := ""
	for _, result := range results {
		tool := "function"
		if result.FreeText {
			tool = "custom_tool"
		}
		list += `,{"type":"` + tool + `_call_output","call_id":` + jsonspan.Quoted(result.ID) +
			`,"output":` + jsonspan.Quoted(result.Text) + "}"
	}
	return jsonspan.Insert(r.Items[i].End, list)
}

// AppendSystem adds text to the last of the leading system messages (r.Lead of them), or puts one before all items. It
// does not use the body's field "instructions": where the provider keeps the conversation, it does not keep that field.
func (d Dialect) AppendSystem(r *conversation.Request, text string) (e jsonspan.Edit, ok bool) {
	if len(r.Items) == 0 {
		return e, false
	}
	if r.Lead > 0 {
		last := &r.Items[r.Lead-1]
		e, ok = jsonspan.AddTo(r.Body, last.Content, "\n\n"+text, d.TextPart("\n\n"+text))
		if ok { // it declares no tools
			return e, true
		}
	}
	added := string(message("developer", text)) + ","
	first := r.Items[0].Span
	if jsonspan.IsText(r.Body, first) { // the whole input is the user's text: it becomes a list
		list := "[" + added + `{"type":"message","role":"user","content":` + string(first.Of(r.Body)) + "}]"
		return jsonspan.Edit{Span: first, With: []byte(list)}, true
	}
	return jsonspan.Insert(first.Start, added), true
}
