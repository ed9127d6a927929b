// Package aside is asides in the dialect of Chat Completions: the tool declared, what was said in an aside put back
// into a conversation, and an answer of several rounds heard as one.
//
// It promises that no byte outside an edit changes, and that calls of the client's own tools are numbered without
// holes.
package aside

import (
	"bytes"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Dialect is asides in Chat Completions.
type Dialect struct{}

// Hear begins to hear an answer.
func (Dialect) Hear() aside.Hearing { return &hearing{} }

// Declare puts the tool behind all others. It leaves requests alone that want several answers, have functions of the
// legacy kind, or a tool of that name.
func (Dialect) Declare(r *conversation.Request, d aside.Declaration) (edits []span.Edit, ok bool) {
	o, err := span.ObjectAt(r.Body, span.SkipSpace(r.Body, 0))
	if err != nil {
		return nil, false
	}
	at := func(key string) []byte { return o.Value(key).Of(r.Body) }
	several := len(at("n")) > 0 && string(at("n")) != "1" && string(at("n")) != "null"
	if several || len(at("functions")) > 0 || bytes.Contains(at("tools"), []byte(`"`+aside.Tool+`"`)) {
		return nil, false
	}
	tool := `{"type":"function","function":{"name":"` + aside.Tool + `","description":`
	tool = string(span.AppendQuoted([]byte(tool), d.Description)) + `,"parameters":` + string(d.Schema) + `}}`
	switch list := o.Value("tools"); {
	case !list.Empty() && r.Body[list.Start] == '[':
		return []span.Edit{span.AddElement(r.Body, list, []byte(tool))}, true
	case !list.Empty() && string(list.Of(r.Body)) != "null":
		return nil, false
	}
	o.Set("tools", "["+tool+"]")
	return o.Edits(), true
}

// Weave puts the rounds before the message of the answer, without their text in it, and calls that were hidden into it.
func (Dialect) Weave(r *conversation.Request, g conversation.Group, rec *aside.Record) ([]span.Edit, bool) {
	it := &r.Items[g.First]
	var edits []span.Edit
	if before := saidBefore(rec.Rounds); len(before) > 0 {
		edits = append(edits, span.Edit{Span: span.Span{Start: it.Start, End: it.Start}, With: before})
	}
	if e, ok := withoutText(r, it, rec.Rounds); ok {
		edits = append(edits, e)
	}
	if len(rec.Last) == 0 {
		return edits, true
	}
	if len(it.Calls) == 0 {
		return nil, false
	}
	for _, c := range rec.Last {
		edits = append(edits, callAmong(it.Calls, &c))
	}
	results := append([]byte{','}, results(rec.Last)...)
	return append(edits, span.Edit{Span: span.Span{Start: it.End, End: it.End}, With: results}), true
}

// saidBefore are the messages of rounds, each with a comma behind it.
func saidBefore(rounds []aside.Round) (b []byte) {
	for i := range rounds {
		b = append(append(b, rounds[i].Said...), ',')
		b = append(append(b, results(rounds[i].Calls)...), ',')
	}
	return b
}

// callAmong puts a call back where the model made it.
func callAmong(calls []conversation.Call, c *aside.Call) span.Edit {
	if c.At < len(calls) {
		at := calls[c.At].Start
		return span.Edit{Span: span.Span{Start: at, End: at}, With: append(bytes.Clone(c.Raw), ',')}
	}
	at := calls[len(calls)-1].End
	return span.Edit{Span: span.Span{Start: at, End: at}, With: append([]byte{','}, c.Raw...)}
}

// withoutText takes the text of rounds off the beginning of what a message says. ok is false where they said nothing,
// or the message does not begin with it.
func withoutText(r *conversation.Request, it *conversation.Item, rounds []aside.Round) (e span.Edit, ok bool) {
	said, content := aside.SaidIn(rounds), it.Content
	switch {
	case said == "" || content.Empty():
		return e, false
	case r.Body[content.Start] == '[':
		e.Span, e.With, ok = aside.CutParts(r.Body, content, said)
	default:
		rest, left, fits := aside.CutSaid(string(span.TextOf(content.Of(r.Body))), said)
		e.Span, e.With, ok = content, span.AppendQuoted(nil, rest), fits && left == ""
	}
	if says := string(e.With); says == "" && e.Span == content || says == `""` {
		if e.With = []byte(`""`); len(it.Calls) > 0 {
			e.With = []byte("null")
		}
	}
	return e, ok
}

// results are the messages that answer calls, with commas between them.
func results(calls []aside.Call) (b []byte) {
	for i := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(span.AppendQuoted(append(b, `{"role":"tool","tool_call_id":`...), calls[i].ID), `,"content":`...)
		b = append(span.AppendQuoted(b, calls[i].Result), '}')
	}
	return b
}

// Next is the body with a round behind all messages.
func (Dialect) Next(body []byte, r *aside.Round) ([]byte, error) {
	o, err := span.ObjectAt(body, span.SkipSpace(body, 0))
	if err != nil {
		return nil, err
	}
	said := append(append(bytes.Clone(r.Said), ','), results(r.Calls)...)
	return span.Splice(body, []span.Edit{span.AddElement(body, o.Value("messages"), said)})
}

// Alone reports whether the answer is to be JSON.
func (Dialect) Alone(r *conversation.Request) bool {
	o, err := span.ObjectAt(r.Body, span.SkipSpace(r.Body, 0))
	if err != nil {
		return false
	}
	form := gjson.ParseBytes(o.Value("response_format").Of(r.Body))
	return form.IsObject() && form.Get("type").Str != "text"
}
