// Package aside is asides in the dialect of Anthropic Messages: the tool declared, what was said in an aside put back
// into a conversation, and an answer of several rounds heard as one.
//
// It promises that no byte outside an edit changes, that blocks of an answer are numbered without holes, and that what
// the model thought in a round stands in later requests as it was signed.
package aside

import (
	"bytes"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Dialect is asides in Messages.
type Dialect struct{}

// Hear begins to hear an answer.
func (Dialect) Hear() aside.Hearing { return &hearing{} }

// Declare puts the tool behind all others. It leaves requests alone that have a tool of that name, or whose messages
// lie with the provider.
func (Dialect) Declare(r *conversation.Request, d aside.Declaration) (edits []span.Edit, ok bool) {
	o, err := span.ObjectAt(r.Body, span.SkipSpace(r.Body, 0))
	if err != nil || !r.Upkeep.Before.Empty() {
		return nil, false
	}
	list := o.Value("tools")
	if bytes.Contains(list.Of(r.Body), []byte(`"`+aside.Tool+`"`)) {
		return nil, false
	}
	tool := append(span.AppendQuoted([]byte(`{"name":"`+aside.Tool+`","description":`), d.Description), `,"input_schema":`...)
	tool = append(append(tool, d.Schema...), '}')
	switch {
	case !list.Empty() && r.Body[list.Start] == '[':
		return []span.Edit{span.AddElement(r.Body, list, tool)}, true
	case !list.Empty() && string(list.Of(r.Body)) != "null":
		return nil, false
	}
	o.Set("tools", "["+string(tool)+"]")
	return o.Edits(), true
}

// Next is the body with a round behind all messages.
func (Dialect) Next(body []byte, r *aside.Round) ([]byte, error) {
	o, err := span.ObjectAt(body, span.SkipSpace(body, 0))
	if err != nil {
		return nil, err
	}
	return span.Splice(body, []span.Edit{span.AddElement(body, o.Value("messages"), messagesOf(nil, r))})
}

// messagesOf appends the messages of a round: what the model said, and what it was answered.
func messagesOf(dst []byte, r *aside.Round) []byte {
	dst = append(append(dst, `{"role":"assistant","content":`...), r.Said...)
	dst = append(dst, `},{"role":"user","content":[`...)
	return append(append(dst, results(r.Calls)...), `]}`...)
}

// results are the blocks that answer calls, with commas between them.
func results(calls []aside.Call) (b []byte) {
	for i := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(span.AppendQuoted(append(b, `{"type":"tool_result","tool_use_id":`...), calls[i].ID), `,"content":`...)
		b = append(span.AppendQuoted(b, calls[i].Result), '}')
	}
	return b
}

// Alone reports whether the answer is to be JSON.
func (Dialect) Alone(r *conversation.Request) bool {
	o, err := span.ObjectAt(r.Body, span.SkipSpace(r.Body, 0))
	if err != nil {
		return false
	}
	within := gjson.ParseBytes(o.Value("output_config").Of(r.Body)).Get("format")
	return within.IsObject() || gjson.ParseBytes(o.Value("output_format").Of(r.Body)).IsObject()
}

// markOf is what tells a block that is no text from all others.
func markOf(b gjson.Result) string {
	mark := b.Get("type").Str
	for _, key := range []string{"id", "tool_use_id", "signature", "data"} {
		mark += "\x00" + b.Get(key).Str
	}
	if b.Get("signature").Str == "" {
		mark += b.Get("thinking").Str
	}
	return mark
}
