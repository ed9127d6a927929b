package messages

import (
	"bytes"
	"fmt"

	"github.com/tidwall/gjson"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/tokenize"
)

// mostMarks is how many marks for the cache a request may have.
const mostMarks = 4

// Declared is nil: declarations are counted as they are written.
func (Dialect) Declared([]byte) []tokenize.Tool { return nil }

// ReplaceContent puts one text in the place of all that an item says. A mark inside of it stays.
func (Dialect) ReplaceContent(r *conversation.Request, it *conversation.Item, text string) []jsonspan.Edit {
	if len(it.Parts) == 1 && it.Parts[0].Kind == conversation.TextPart {
		return []jsonspan.Edit{conversation.ReplaceText(&it.Parts[0], text)}
	}
	if it.Content.Empty() || len(it.Calls) > 0 || len(it.Thinking) > 0 {
		return nil
	}
	mark := ""
	for _, m := range it.Marks {
		if m.Start >= it.Content.Start && m.End <= it.Content.End {
			mark = string(m.Value.Of(r.Body))
		}
	}
	with := blockOf(text, mark)
	switch {
	case r.Body[it.Content.Start] == '{': // a run of blocks
	case mark != "":
		with = fmt.Appendf(nil, "[%s]", with)
	default:
		with = jsonspan.AppendQuoted(nil, text)
	}
	return []jsonspan.Edit{{Span: it.Content, With: with}}
}

// blockOf returns a block that says text, with a mark unless that is empty.
func blockOf(text, mark string) []byte { return quotedBlock(jsonspan.AppendQuoted(nil, text), mark) }

func quotedBlock(quoted []byte, mark string) []byte {
	if mark != "" {
		mark = `,"` + marker + `":` + mark
	}
	return fmt.Appendf(nil, `{"type":"text","text":%s%s}`, quoted, mark)
}

func (Dialect) TextPart(_ *conversation.Item, text string) []byte { return blockOf(text, "") }

func (Dialect) UserMessage(text string) []byte {
	return []byte(`{"role":"user","content":` + jsonspan.Quoted(text) + `}`)
}

func (Dialect) Append(r *conversation.Request, it *conversation.Item, text string) (e jsonspan.Edit, ok bool) {
	if it.Role != conversation.User || it.Locked {
		return e, false
	}
	if !it.Content.Empty() && r.Body[it.Content.Start] == '{' { // a run of blocks
		return insert(it.Content.End, append([]byte{','}, blockOf(text, "")...)), true
	}
	return jsonspan.AddTo(r.Body, it.Content, text, blockOf(text, ""))
}

func insert(at int, with []byte) jsonspan.Edit {
	return jsonspan.Edit{Span: jsonspan.Span{Start: at, End: at}, With: with}
}

// AppendSystem adds text to the end of the system prompt: to its string, as one more block, or as all of it.
func (Dialect) AppendSystem(r *conversation.Request, text string) (jsonspan.Edit, bool) {
	switch {
	case len(r.Items) == 0:
	case r.System.Empty():
		o, err := jsonspan.WholeObject(r.Body)
		if err != nil {
			break
		}
		o.Set("system", jsonspan.Quoted(text))
		if edits := o.Edits(); len(edits) == 1 {
			return edits[0], true
		}
	case r.Body[r.System.Start] == '[':
		return jsonspan.AddElement(r.Body, r.System, blockOf(text, "")), true
	default:
		return jsonspan.AddTo(r.Body, r.System, "\n\n"+text, nil)
	}
	return jsonspan.Edit{}, false
}

func (Dialect) Mark(said []byte, value string) ([]byte, bool) {
	if value == "" || len(said) < 2 {
		return said, false
	}
	if said[0] == ',' && said[1] == '{' {
		return append(bytes.Clone(said[:len(said)-1]), `,"`+marker+`":`+value+`}`...), true
	}
	o, err := jsonspan.ObjectAt(said, 0)
	if err != nil {
		return said, false
	}
	content := o.Value("content").Of(said)
	if len(content) == 0 || content[0] != '"' {
		return said, false
	}
	o.Set("content", "["+string(quotedBlock(content, value))+"]")
	marked, err := jsonspan.Splice(said, o.Edits())
	return marked, err == nil
}

// MarksBeside counts the marks of tools and system prompt, and the one by which the provider marks the end itself.
func (Dialect) MarksBeside(r *conversation.Request) (n, most int) {
	values, isAutomatic, err := marksBeside(r)
	switch {
	case err != nil:
		return mostMarks, mostMarks
	case isAutomatic:
		return len(values) + 1, mostMarks
	}
	return len(values), mostMarks
}

// marksBeside returns the marks of tools and system prompt, in this order, and whether the provider marks the end of
// the conversation itself.
func marksBeside(r *conversation.Request) (marks []conversation.Mark, isAutomatic bool, err error) {
	for _, list := range [...]jsonspan.Span{r.Tools, r.System} {
		if list.Empty() || r.Body[list.Start] != '[' {
			continue
		}
		p := parser{body: r.Body}
		blocks, _, err := p.list(list.Start, true)
		if err != nil {
			return nil, false, err
		}
		for k := range blocks {
			marks = append(marks, blocks[k].marks...)
		}
	}
	return marks, gjson.GetBytes(r.Body, marker).Type != gjson.Null, nil
}
