package aside

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Weave cuts the message of the answer where the last round began: before it come the rounds as they were said, in it
// stays what was said last. Calls that were hidden go back into it, and what they were answered before the results of
// the client's own.
func (Dialect) Weave(r *conversation.Request, g conversation.Group, rec *aside.Record) ([]span.Edit, bool) {
	it := &r.Items[g.First]
	o, err := span.ObjectAt(r.Body, it.Start)
	if err != nil || g.First+1 < g.End && r.Items[g.First+1].Role == conversation.Assistant {
		return nil, false
	}
	content := o.Value("content")
	var edits []span.Edit
	if len(rec.Rounds) > 0 {
		var ok bool
		if edits, ok = cut(r.Body, it, content, rec); !ok {
			return nil, false
		}
	}
	if len(rec.Last) == 0 {
		return edits, true
	}
	if len(it.Calls) == 0 || g.First+1 == len(r.Items) || r.Items[g.First+1].Role != conversation.Tool {
		return nil, false // the client has not answered its own
	}
	for i := range rec.Last {
		edits = append(edits, callAmong(it.Calls, content, &rec.Last[i]))
	}
	at := r.Items[g.First+1].Start
	return append(edits, span.Edit{Span: span.Span{Start: at, End: at}, With: append(results(rec.Last), ',')}), true
}

// callAmong puts a call back where the model made it.
func callAmong(calls []conversation.Call, content span.Span, c *aside.Call) span.Edit {
	if c.At < len(calls) {
		at := calls[c.At].Start
		return span.Edit{Span: span.Span{Start: at, End: at}, With: append(slices.Clone(c.Raw), ',')}
	}
	at := content.End - 1 // a list with calls is not empty
	return span.Edit{Span: span.Span{Start: at, End: at}, With: append([]byte{','}, c.Raw...)}
}

// cut puts rounds before a message, and takes out of it what was given in them.
func cut(body []byte, it *conversation.Item, content span.Span, rec *aside.Record) (edits []span.Edit, ok bool) {
	rounds := asThought(body, content, rec)
	put := span.Edit{Span: span.Span{Start: it.Start, End: it.Start}}
	if content.Empty() || body[content.Start] != '[' {
		rest, left, ok := aside.CutSaid(string(span.TextOf(content.Of(body))), aside.SaidIn(rounds))
		if !ok || left != "" {
			return nil, false
		}
		if put.With = allOf(rounds); rest == "" {
			return onlyRounds(it, put.With), true
		}
		return []span.Edit{put, {Span: content, With: span.AppendQuoted(nil, rest)}}, true
	}
	end, text, marks, ok := given(body, content, rounds)
	switch put.With = allOf(marked(rounds, marks)); {
	case !ok:
		return nil, false
	case end.Empty():
		return onlyRounds(it, put.With), true
	}
	edits = []span.Edit{put}
	first := span.SkipSpace(body, content.Start+1)
	if first < end.Start {
		edits = append(edits, span.Edit{Span: span.Span{Start: first, End: end.Start}})
	}
	if text != nil {
		o, err := span.ObjectAt(body, end.Start)
		if err != nil {
			return nil, false
		}
		o.Set("text", string(text))
		edits = append(edits, o.Edits()...)
	}
	return edits, true
}

// onlyRounds puts rounds in the place of a message of which all was given in them: nothing was said last.
func onlyRounds(it *conversation.Item, rounds []byte) []span.Edit {
	return []span.Edit{{Span: it.Span, With: rounds[:len(rounds)-1]}}
}

// allOf are the messages of rounds, each with a comma behind it.
func allOf(rounds []aside.Round) (messages []byte) {
	for i := range rounds {
		messages = append(messagesOf(messages, &rounds[i]), ',')
	}
	return messages
}

// given finds the first block of a content that was not given in rounds, or not all of it: then text is what of it was
// not. The block is empty if there is none. marks are those for the cache on blocks before it.
func given(
	body []byte, content span.Span, rounds []aside.Round,
) (end span.Span, text []byte, marks []cacheMark, ok bool) {
	said := aside.SaidIn(rounds)
	var known []string
	for i := range rounds {
		known = append(known, rounds[i].Marks...)
	}
	found, whole := false, len(said)
	ok = true
	_, err := span.Elements(body, content.Start, func(i int) (int, error) {
		stop, err := span.EndOfValue(body, i)
		if err != nil || found || !ok {
			return stop, err
		}
		b := gjson.ParseBytes(body[i:stop])
		if b.Get("type").Str != "text" {
			if found = !slices.Contains(known, markOf(b)); found {
				end = span.Span{Start: i, End: stop}
			} else {
				marks = addMark(marks, b, 0)
			}
			return stop, nil
		}
		rest, left := "", said
		if said != "" {
			rest, left, ok = aside.CutSaid(b.Get("text").Str, said)
		}
		switch {
		case said == "":
			found, end = true, span.Span{Start: i, End: stop}
		case rest != "":
			found, end, text = true, span.Span{Start: i, End: stop}, span.AppendQuoted(nil, rest)
		default:
			marks = addMark(marks, b, whole-len(left))
		}
		said = left
		return stop, nil
	})
	return end, text, marks, ok && err == nil && said == ""
}

// asThought are rounds with what the model thought in them, unless the client sends nothing of that: what it was given
// of thoughts goes back as a whole, or not at all.
func asThought(body []byte, content span.Span, rec *aside.Record) []aside.Round {
	var marks []string
	for i := range rec.Rounds {
		for _, m := range rec.Rounds[i].Marks {
			if isThought(m) {
				marks = append(marks, m)
			}
		}
	}
	shown := len(marks) == 0 && !rec.Thought
	for _, b := range gjson.ParseBytes(content.Of(body)).Array() {
		shown = shown || slices.Contains(marks, markOf(b)) || rec.Thought && isThought(b.Get("type").Str)
	}
	if shown {
		return rec.Rounds
	}
	bare := slices.Clone(rec.Rounds)
	for i := range bare {
		said := []byte{'['}
		for _, b := range gjson.ParseBytes(bare[i].Said).Array() {
			if isThought(b.Get("type").Str) {
				continue
			}
			if len(said) > 1 {
				said = append(said, ',')
			}
			said = append(said, b.Raw...)
		}
		bare[i].Said = append(said, ']')
	}
	return bare
}

// isThought reports whether what begins with a kind of block is a thought.
func isThought(kind string) bool {
	return strings.HasPrefix(kind, "thinking") || strings.HasPrefix(kind, "redacted_thinking")
}
