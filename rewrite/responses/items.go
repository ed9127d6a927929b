package responses

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// take takes the next entry of the input. What was known of an answer of the model must be all of it.
func (rd *reader) take(e entry) error {
	if e.speaks() {
		n := len(rd.req.Items)
		if n > 0 && n == rd.recalled && len(rd.run) == 0 && rd.req.Items[n-1].Role == conversation.Assistant {
			return conversation.ErrMoved
		}
		rd.run = append(rd.run, e)
		return nil
	}
	rd.flush()
	it := conversation.Item{Span: e.Span, Role: e.role, Content: e.value}
	switch {
	case e.kind == outputEntry:
		it.Name, it.Answers = e.tool, e.call
		it.Pinned, it.Locked = e.loads, e.fixed
		if e.fixed || e.byID {
			it.Content = e.Span
		}
		if e.byID {
			it.Answers = calledHere(rd.req, e.call)
		}
	case e.kind != messageEntry:
		it.Content, it.Pinned, it.Locked = e.Span, true, true
		it.Compacts = e.kind == compactionEntry
	}
	rd.add(it)
	return nil
}

// flush makes an item of what the model says at once.
func (rd *reader) flush() {
	if len(rd.run) == 0 {
		return
	}
	body, last := rd.req.Body, rd.run[len(rd.run)-1]
	it := conversation.Item{Span: span.Span{Start: rd.run[0].Start, End: last.End}, Role: conversation.Assistant,
		Begins: !rd.run[0].inner}
	var said []span.Span
	sole := true // it says nothing but texts
	for k := range rd.run {
		e := &rd.run[k]
		it.Pinned, it.Locked = it.Pinned || e.loads || e.late, it.Locked || e.fixed
		switch e.kind {
		case messageEntry:
			if !e.value.Empty() {
				said = append(said, e.value)
			}
		case reasoningEntry:
			if it.Opaque = it.Opaque || e.sealed; e.thinks.End-e.thinks.Start > it.Thoughts.End-it.Thoughts.Start {
				it.Thoughts = e.thinks
			}
		case callEntry:
			it.Calls = append(it.Calls, conversation.Call{
				Span: e.Span, ID: e.call, Name: e.tool, Arguments: e.value, FreeText: e.free})
			it.Opaque = it.Opaque || e.hidden
		default:
			sole, it.Locked = false, true
		}
	}
	switch {
	case sole && len(said) == 1 && (body[said[0].Start] == '"' || body[said[0].Start] == '['):
		it.Content = said[0]
	case !sole || len(said) > 0:
		it.Content = it.Span
	}
	rd.run = rd.run[:0]
	rd.add(it)
}

// add appends an item. What stands beside an answer of the model, and nobody knows what it is, may be part of it: then
// nothing of that answer goes.
func (rd *reader) add(it conversation.Item) {
	r := rd.req
	before := len(r.Items) - 1
	if it.Begins && before >= 0 && isOdd(&r.Items[before]) {
		it.Pinned = true
		it.Begins = before == 0 || r.Items[before-1].Role != conversation.Assistant
	}
	r.Items = append(r.Items, it)
	switch {
	case isOdd(&it) && before >= 0 && r.Items[before].Role == conversation.Assistant:
		r.Items[before].Pinned = true
		conversation.PinAnswer(r, before)
	case it.Role == conversation.Tool, it.Role == conversation.Assistant && !it.Begins:
		conversation.PinAnswer(r, before+1)
	}
}

// isOdd reports whether nobody knows what an item is, but that it is no provider's compaction.
func isOdd(it *conversation.Item) bool { return it.Role == conversation.Unknown && !it.Compacts }

// calledHere is the id of the call that an output answers with that one: that of the call, or of its entry.
func calledHere(r *conversation.Request, id string) string {
	const far = 200 // items; who answers later than that has the call's own id
	for k := len(r.Items) - 1; k >= max(0, len(r.Items)-far); k-- {
		for _, c := range r.Items[k].Calls {
			if c.ID == id {
				return id
			}
			if e, err := readEntry(r.Body, c.Start); err == nil && e.id == id {
				return c.ID
			}
		}
	}
	return id
}
