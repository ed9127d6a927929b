package aside

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Weave puts rounds in the place of what the client has of them. Calls that were hidden go back among the client's own,
// and what they were answered behind all of the answer.
func (Dialect) Weave(r *conversation.Request, g conversation.Group, rec *aside.Record) ([]span.Edit, bool) {
	it := &r.Items[g.First]
	var edits []span.Edit
	if len(rec.Rounds) > 0 {
		var ok bool
		if edits, ok = replace(r.Body, it, rec); !ok {
			return nil, false
		}
	}
	if len(rec.Last) == 0 {
		return edits, true
	}
	if len(it.Calls) == 0 {
		return nil, false
	}
	bare := gjson.ParseBytes(it.Calls[0].Of(r.Body)).Get("id").Str == "" // so clients do that leave out what was thought
	for _, c := range rec.Last {
		if bare {
			c.Raw = withoutID(c.Raw)
		}
		e := span.Edit{With: append([]byte{','}, c.Raw...)}
		if e.Start = it.Calls[len(it.Calls)-1].End; c.At < len(it.Calls) {
			e.Start, e.With = it.Calls[c.At].Start, append(bytes.Clone(c.Raw), ',')
		}
		e.End = e.Start
		edits = append(edits, e)
	}
	behind := span.Span{Start: it.End, End: it.End}
	return append(edits, span.Edit{Span: behind, With: append([]byte{','}, outputs(rec.Last)...)}), true
}

// replace puts rounds in the place of what an item has of them.
func replace(body []byte, it *conversation.Item, rec *aside.Record) (edits []span.Edit, ok bool) {
	rounds := rec.Rounds
	said, shown := aside.SaidIn(rounds), rec.Thought && hasReasoning(body, it.Span)
	var marks []string
	for i := range rounds {
		marks = append(marks, rounds[i].Marks...)
	}
	end, found := it.End, false
	err := span.Each(body, it.Span, func(i int) (int, error) {
		stop, err := span.EndOfValue(body, i)
		if err != nil || found {
			return stop, err
		}
		item, left := gjson.ParseBytes(body[i:stop]), ""
		if found = true; isMessage(item) && said != "" {
			var rest string
			switch rest, left, ok = aside.CutSaid(textOf(item), said); {
			case ok && rest == "":
				found, said = false, left
			case ok: // the client has joined messages
				edits, said = withoutText(body, i, said), ""
			}
		} else if !isMessage(item) && slices.Contains(marks, markOf(item)) {
			found, shown = false, shown || isReasoning(item)
		}
		if found {
			end = i
		}
		return stop, nil
	})
	if err != nil || said != "" {
		return nil, false
	}
	thought := rec.Thought || slices.ContainsFunc(marks, func(m string) bool { return strings.HasPrefix(m, "reasoning") })
	if thought && !shown {
		rounds = slices.Clone(rounds)
		for i := range rounds {
			rounds[i].Said = withoutReasoning(rounds[i].Said)
		}
	}
	var with []byte
	for i := range rounds {
		with = append(append(with, itemsOf(&rounds[i])...), ',')
	}
	if !found {
		with = with[:len(with)-1]
	}
	return append([]span.Edit{{Span: span.Span{Start: it.Start, End: end}, With: with}}, edits...), true
}

// withoutText takes what was said off the beginning of the message at body[i], which says more.
func withoutText(body []byte, i int, said string) []span.Edit {
	o, err := span.ObjectAt(body, i)
	if err != nil {
		return nil
	}
	e := span.Edit{Span: o.Value("content")}
	if body[e.Start] == '[' {
		e.Span, e.With, _ = aside.CutParts(body, e.Span, said)
		return []span.Edit{e}
	}
	rest, _, _ := aside.CutSaid(string(span.TextOf(e.Of(body))), said)
	e.With = span.AppendQuoted(nil, rest)
	return []span.Edit{e}
}

// hasReasoning reports whether one of the items in a run is what the model thought.
func hasReasoning(body []byte, run span.Span) (has bool) {
	_ = span.Each(body, run, func(i int) (int, error) {
		stop, err := span.EndOfValue(body, i)
		has = has || err == nil && isReasoning(gjson.ParseBytes(body[i:stop]))
		return stop, err
	})
	return has
}

func isReasoning(item gjson.Result) bool { return item.Get("type").Str == "reasoning" }

// withoutReasoning are items without what the model thought, and without the ids by which the API would look for that.
func withoutReasoning(list []byte) []byte {
	out := []byte{'['}
	for _, item := range gjson.ParseBytes(list).Array() {
		if isReasoning(item) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, withoutID([]byte(item.Raw))...)
	}
	return append(out, ']')
}

// withoutID is an item without its own id.
func withoutID(item []byte) []byte {
	o, err := span.ObjectAt(item, 0)
	if err != nil {
		return item
	}
	o.TakeOut("id")
	bare, err := span.Splice(item, o.Edits())
	if err != nil {
		return item
	}
	return bare
}
