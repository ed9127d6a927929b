package responses

import (
	"encoding/json"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/tokenize"
)

// ReplaceContent puts a text in the place of one text, and of what a command wrote, which keeps its exit codes. The API
// takes a string wherever it takes other parts.
func (Dialect) ReplaceContent(_ *conversation.Request, it *conversation.Item, text string) (edits []jsonspan.Edit) {
	n := len(it.Parts)
	switch {
	case it.Content.Empty() || it.Locked:
		return nil
	case n == 0, it.Parts[0].Kind != conversation.TextPart, n > 1 && !it.Parts[0].Empty():
		return []jsonspan.Edit{{Span: it.Content, With: jsonspan.AppendQuoted(nil, text)}}
	}
	for k := range it.Parts {
		edits = append(edits, conversation.ReplaceText(&it.Parts[k], text))
		text = ""
	}
	return edits
}

func inputText(text string) []byte {
	return []byte(`{"type":"input_text","text":` + jsonspan.Quoted(text) + `}`)
}

func (Dialect) UserMessage(text string) []byte { return message("user", text) }

func message(role, text string) []byte {
	return []byte(`{"type":"message","role":"` + role + `","content":[` + string(inputText(text)) + `]}`)
}

func (Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e jsonspan.Edit, ok bool) {
	if it.Role != conversation.User || it.Locked {
		return e, false
	}
	return jsonspan.AddTo(r.Body, it.Content, text, inputText(text))
}

// AppendSystem adds text to the last of the leading messages of the system, or puts a message before all others. The
// instructions stay as they are: a provider that keeps the conversation does not keep them.
func (Dialect) AppendSystem(r *conversation.Request, text string) (e jsonspan.Edit, ok bool) {
	if len(r.Items) == 0 {
		return e, false
	}
	if r.Lead > 0 {
		last := &r.Items[r.Lead-1]
		if e, ok = jsonspan.AddTo(r.Body, last.Content, "\n\n"+text, inputText("\n\n"+text)); ok {
			return e, true
		}
	}
	first, notice := r.Items[0].Span, string(message("developer", text))+","
	if said := string(first.Of(r.Body)); said[0] == '"' { // the input becomes a list
		list := "[" + notice + `{"type":"message","role":"user","content":` + said + "}]"
		return jsonspan.Edit{Span: first, With: []byte(list)}, true
	}
	return jsonspan.Edit{Span: jsonspan.Span{Start: first.Start, End: first.Start}, With: []byte(notice)}, true
}

// Declared reads the declarations of tools; nil unless all of them are functions.
func (Dialect) Declared(tools []byte) []tokenize.Tool {
	var all []struct {
		Type string
		tokenize.Tool
	}
	if json.Unmarshal(tools, &all) != nil {
		return nil
	}
	list := make([]tokenize.Tool, len(all))
	for i, t := range all {
		if t.Type != "function" || t.Name == "" {
			return nil
		}
		list[i] = t.Tool
	}
	return list
}
