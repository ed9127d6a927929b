package responses

import (
	"encoding/json"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/tokenize"
)

// ReplaceContent returns the edits that replace all that an item says by one text, in the form that the content has.
func (d Dialect) ReplaceContent(r *conversation.Request, it *conversation.Item, text string) []jsonspan.Edit {
	switch {
	case it.Content.Empty() || it.Locked:
		return nil
	case len(it.Parts) == 1 && it.Parts[0].Kind == conversation.TextPart:
		return []jsonspan.Edit{conversation.ReplaceText(&it.Parts[0], text)}
	case r.Body[it.Content.Start] != '[':
		return []jsonspan.Edit{{Span: it.Content, With: jsonspan.AppendQuoted(nil, text)}}
	case len(it.Parts) > 0 && it.Parts[0].Kind == conversation.TextPart && it.Parts[0].Empty():
		edits := make([]jsonspan.Edit, len(it.Parts)) // outputs of commands, which keep their exit codes
		for k := range it.Parts {
			edits[k] = conversation.ReplaceText(&it.Parts[k], text)
			text = ""
		}
		return edits
	}
	return []jsonspan.Edit{{Span: it.Content, With: append(append([]byte{'['}, d.TextPart(it, text)...), ']')}}
}

func (Dialect) TextPart(it *conversation.Item, text string) []byte {
	if it.Role == conversation.Assistant {
		return []byte(`{"type":"output_text","text":` + jsonspan.Quoted(text) + `,"annotations":[]}`)
	}
	return inputText(text)
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

// AppendSystem returns the edit that adds text to the last of the leading messages of the system, or puts a message
// before all others. The instructions stay as they are: a provider that keeps the conversation does not keep them.
func (Dialect) AppendSystem(r *conversation.Request, text string) (e jsonspan.Edit, ok bool) {
	notice := message("developer", text)
	switch {
	case len(r.Items) == 0:
		return e, false
	case r.Body[r.Items[0].Start] == '"': // the input becomes a list
		said := `{"type":"message","role":"user","content":` + string(r.Items[0].Of(r.Body)) + `}`
		return jsonspan.Edit{Span: r.Items[0].Span, With: []byte("[" + string(notice) + "," + said + "]")}, true
	case r.Lead == 0:
		at := r.Items[0].Start
		return jsonspan.Edit{Span: jsonspan.Span{Start: at, End: at}, With: append(notice, ',')}, true
	}
	last := &r.Items[r.Lead-1]
	if !last.Content.Empty() && r.Body[last.Content.Start] == '"' {
		text = "\n\n" + text
	}
	if e, ok = jsonspan.AddTo(r.Body, last.Content, text, inputText(text)); ok && !last.Locked {
		return e, true
	}
	e.Span = jsonspan.Span{Start: last.End, End: last.End}
	e.With = append([]byte{','}, notice...)
	return e, true
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
