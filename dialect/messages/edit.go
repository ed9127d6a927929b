package messages

import (
	"strings"

	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
	"epitome/tokenize"
)

// Declared returns nil: this API's declarations of tools are counted as they are written.
func (Dialect) Declared([]byte) []tokenize.Tool { return nil }

// ReplaceContent puts one text in the place of all that an item says. A single text is replaced within its block. Else,
// an item that calls tools or thinks has no edits: its calls and its thinking stand in the list that would be replaced.
func (d Dialect) ReplaceContent(r *conversation.Request, it *conversation.Item, text string) []jsonspan.Edit {
	if len(it.Parts) == 1 && it.Parts[0].Kind == conversation.TextPart {
		return []jsonspan.Edit{conversation.ReplaceText(&it.Parts[0], text)}
	}
	if it.Content.Empty() || len(it.Calls) > 0 || len(it.Thinking) > 0 {
		return nil
	}
	plain := string(d.TextPart(text))
	block := plain
	for _, mark := range it.Marks {
		if mark.Start > it.Content.Start && mark.End < it.Content.End { // the last mark stays, though its block goes
			block = plain[:len(plain)-1] + "," + strings.Trim(string(mark.Of(r.Body)), ", \t\r\n") + "}"
		}
	}
	if r.Body[it.Content.Start] == '[' { // else the item is a run of blocks within the list of its message
		block = "[" + block + "]"
	}
	return []jsonspan.Edit{{Span: it.Content, With: []byte(block)}}
}

func (Dialect) TextPart(text string) []byte {
	return []byte(`{"type":"text","text":` + jsonspan.Quoted(text) + `}`)
}

func (Dialect) UserMessage(text string) []byte {
	return []byte(`{"role":"user","content":` + jsonspan.Quoted(text) + `}`)
}

// Append adds text behind what the user says in an item: to its string, or as one more block.
func (d Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e jsonspan.Edit, ok bool) {
	if it.Role != conversation.User || it.Locked {
		return e, false
	}
	if !it.Content.Empty() && r.Body[it.Content.Start] == '{' { // a run of blocks
		return jsonspan.Insert(it.Content.End, ","+string(d.TextPart(text))), true // within the list of its message
	}
	return jsonspan.AddTo(r.Body, it.Content, text, d.TextPart(text))
}

// AddResults puts the results before the other blocks of the user's next message, or into a message of their own.
func (Dialect) AddResults(r *conversation.Request, i int, results []conversation.Result, apart bool) jsonspan.Edit {
	blocks := ""
	for _, it := range results {
		blocks += `{"type":"tool_result","tool_use_id":` + jsonspan.Quoted(it.ID) +
			`,"content":` + jsonspan.Quoted(it.Text) + "},"
	}
	if i+1 < len(r.Items) && !r.Items[i+1].Message.Empty() && !apart {
		return jsonspan.Insert(r.Items[i+1].Start, blocks)
	}
	return jsonspan.Insert(r.Items[i].End, `,{"role":"user","content":[`+strings.TrimSuffix(blocks, ",")+"]}")
}

// AppendSystem adds text to the end of the system prompt: to its string, as one more block, or as a new prompt.
func (d Dialect) AppendSystem(r *conversation.Request, text string) (e jsonspan.Edit, ok bool) {
	if !r.System.Empty() {
		return jsonspan.AddTo(r.Body, r.System, "\n\n"+text, d.TextPart(text))
	}
	o, err := jsonspan.WholeObject(r.Body)
	if err != nil {
		return e, false
	}
	if null := o.Value("system"); !null.Empty() { // the key is there, with null as its value
		return jsonspan.Edit{Span: null, With: jsonspan.AppendQuoted(nil, text)}, true
	}
	return jsonspan.Insert(o.Start+1, `"system":`+jsonspan.Quoted(text)+","), true
}
