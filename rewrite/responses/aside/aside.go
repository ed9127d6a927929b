// Package aside is asides in the dialect of OpenAI Responses: the tool declared, what was said in an aside put back
// into a conversation, and an answer of several rounds heard as one.
//
// It promises that no byte outside an edit changes, that items and events of an answer are numbered without holes, and
// that who goes on from an answer by its id goes on from all of its rounds.
package aside

import (
	"bytes"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Dialect is asides in Responses.
type Dialect struct{}

// Hear begins to hear an answer.
func (Dialect) Hear() aside.Hearing { return &hearing{} }

// Declare puts the tool behind all others. It leaves requests alone that have a tool of that name, whose answer is
// polled for, or whose conversation lies with the provider under a name.
func (Dialect) Declare(r *conversation.Request, d aside.Declaration) (edits []span.Edit, ok bool) {
	o, err := span.ObjectAt(r.Body, span.SkipSpace(r.Body, 0))
	if err != nil || string(o.Value("background").Of(r.Body)) == "true" ||
		!r.Upkeep.Before.Empty() && r.Upkeep.Before != o.Value(previous) {
		return nil, false
	}
	list := o.Value("tools")
	if bytes.Contains(list.Of(r.Body), []byte(`"`+aside.Tool+`"`)) {
		return nil, false
	}
	tool := []byte(`{"type":"function","name":"` + aside.Tool + `","description":`)
	tool = append(append(span.AppendQuoted(tool, d.Description), `,"parameters":`...), d.Schema...)
	tool = append(tool, `,"strict":false}`...)
	switch {
	case !list.Empty() && r.Body[list.Start] == '[':
		return []span.Edit{span.AddElement(r.Body, list, tool)}, true
	case !list.Empty() && string(list.Of(r.Body)) != "null":
		return nil, false
	}
	o.Set("tools", "["+string(tool)+"]")
	return o.Edits(), true
}

// previous is the key of the id of the answer that a request goes on from.
const previous = "previous_response_id"

// Previous is that id; empty if all that was said is in the body.
func (Dialect) Previous(r *conversation.Request) string {
	return gjson.ParseBytes(r.Upkeep.Before.Of(r.Body)).Str
}

// Resume has a request go on from the answer with another id, in which calls were hidden.
func (Dialect) Resume(r *conversation.Request, id string, hidden []aside.Call) (edits []span.Edit, ok bool) {
	if id != (Dialect{}).Previous(r) {
		edits = append(edits, span.Edit{Span: r.Upkeep.Before, With: span.AppendQuoted(nil, id)})
	}
	if len(hidden) == 0 {
		return edits, true
	}
	o, err := span.ObjectAt(r.Body, span.SkipSpace(r.Body, 0))
	input := o.Value("input")
	if err != nil || input.Empty() {
		return nil, false
	}
	if r.Body[input.Start] == '"' {
		said := append(append(outputs(hidden), ','), message(r.Body, input)...)
		return append(edits, span.Edit{Span: input, With: append(append([]byte{'['}, said...), ']')}), true
	}
	with := outputs(hidden)
	if span.HasElements(r.Body, input) {
		with = append(with, ',')
	}
	at := span.SkipSpace(r.Body, input.Start+1)
	return append(edits, span.Edit{Span: span.Span{Start: at, End: at}, With: with}), true
}

// Alone reports whether the answer is to be JSON.
func (Dialect) Alone(r *conversation.Request) bool {
	o, err := span.ObjectAt(r.Body, span.SkipSpace(r.Body, 0))
	if err != nil {
		return false
	}
	form := gjson.ParseBytes(o.Value("text").Of(r.Body)).Get("format")
	return form.IsObject() && form.Get("type").Str != "text"
}

// message is an input that is a text, as an item.
func message(body []byte, input span.Span) []byte {
	return append(append([]byte(`{"role":"user","content":`), input.Of(body)...), '}')
}

// Next is the body with a round behind all that was said.
func (Dialect) Next(body []byte, r *aside.Round) ([]byte, error) {
	o, err := span.ObjectAt(body, span.SkipSpace(body, 0))
	if err != nil {
		return nil, err
	}
	input := o.Value("input")
	if !input.Empty() && body[input.Start] == '"' {
		said := append(append(message(body, input), ','), itemsOf(r)...)
		return span.Splice(body, []span.Edit{{Span: input, With: append(append([]byte{'['}, said...), ']')}})
	}
	return span.Splice(body, []span.Edit{span.AddElement(body, input, itemsOf(r))})
}

// itemsOf are the items of a round, and what its calls were answered, with commas between them.
func itemsOf(r *aside.Round) []byte {
	said := bytes.TrimSuffix(bytes.TrimPrefix(r.Said, []byte("[")), []byte("]"))
	return append(append(bytes.Clone(said), ','), outputs(r.Calls)...)
}

// outputs answer calls, with commas between them.
func outputs(calls []aside.Call) (b []byte) {
	for i := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(span.AppendQuoted(append(b, `{"type":"function_call_output","call_id":`...), calls[i].ID), `,"output":`...)
		b = append(span.AppendQuoted(b, calls[i].Result), '}')
	}
	return b
}

// markOf is what tells an item that is no message from all others.
func markOf(item gjson.Result) string {
	for _, key := range []string{"encrypted_content", "call_id", "id"} {
		if v := item.Get(key).Str; v != "" {
			return item.Get("type").Str + "\x00" + v
		}
	}
	return item.Get("type").Str
}

// textOf is what a message says.
func textOf(item gjson.Result) (text string) {
	if content := item.Get("content"); content.Type == gjson.String {
		return content.Str
	}
	for _, part := range item.Get("content").Array() {
		text += part.Get("text").Str
	}
	return text
}

// isMessage reports whether an item is a message. Clients may leave its type out.
func isMessage(item gjson.Result) bool {
	kind := item.Get("type").Str
	return kind == "message" || kind == "" && item.Get("role").Exists()
}
