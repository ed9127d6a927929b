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
		it.Name, it.Answers, it.Verdict = e.tool, e.call, e.ended
		it.Pinned, it.Locked = e.loads, e.fixed || e.byID && e.value.Empty()
		if e.fixed || e.byID {
			it.Content = e.Span
		}
		if e.byID {
			it.Answers = rd.calledBy(e.call)
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
	i := before + 1
	switch {
	case isOdd(&it) && before >= 0 && r.Items[before].Role == conversation.Assistant:
		r.Items[before].Pinned = true
		rd.pinAnswer(before)
		r.Items[i].Pinned = true
	case it.Role == conversation.Tool, it.Role == conversation.Assistant && !it.Begins:
		rd.pinAnswer(i)
	}
	if it.Role == conversation.Assistant {
		rd.learn(i)
	}
}

// isOdd reports whether nobody knows what an item is, but that it is no provider's compaction.
func isOdd(it *conversation.Item) bool { return it.Role == conversation.Unknown && !it.Compacts }

// ids are the calls that were read so far: where each of them stands, by its id, and the ids of those that have another
// one for their entry.
type ids struct {
	items map[string]int
	calls map[string]string
}

// callIDs are those of all that was called so far.
func (rd *reader) callIDs() *ids {
	if rd.ids == nil {
		rd.ids = &ids{map[string]int{}, map[string]string{}}
		for i := range rd.req.Items {
			rd.learn(i)
		}
	}
	return rd.ids
}

// learn takes in what item i calls, if anybody wants to know.
func (rd *reader) learn(i int) {
	if rd.ids == nil {
		return
	}
	for _, c := range rd.req.Items[i].Calls {
		rd.ids.items[c.ID] = i
		if c.Name != localShell {
			continue
		}
		if e, err := readEntry(rd.req.Body, c.Start); err == nil && e.id != "" {
			rd.ids.calls[e.id] = c.ID
		}
	}
}

// calledBy is the id of the call that an output answers with that one: that of the call, or of its entry.
func (rd *reader) calledBy(id string) string {
	known := rd.callIDs()
	if _, called := known.items[id]; called {
		return id
	}
	if call, named := known.calls[id]; named {
		return call
	}
	return id
}

// answerOf is where the answer of the model begins to which item i belongs: the one whose call it answers, or else the
// one before it. It is i itself if there is none.
func (rd *reader) answerOf(i int) int {
	items, first := rd.req.Items, i
	if items[i].Role == conversation.Tool {
		at, called := rd.callIDs().items[items[i].Answers]
		if !called || items[i].Answers == "" {
			return i
		}
		first = at
	}
	const far = 1000 // items; no answer is of so many
	for least := max(0, first-far); first > least && !items[first].Begins && isPartOfAnswer(&items[first]); first-- {
	}
	return first
}

// pinAnswer pins what item i belongs to, if anything of that is pinned. Where outputs of an earlier answer stand within
// it, and that is not far, that one belongs to it, too. What is pinned was looked at as it came.
func (rd *reader) pinAnswer(i int) {
	const far = 1000 // items
	items, first := rd.req.Items, rd.answerOf(i)
	if !items[first].Pinned && !items[i].Pinned {
		return
	}
	least := first
	if items[first].Pinned {
		for least = i - 1; least > first && !items[least].Pinned; least-- {
		}
	}
	begun := first
	for k := i; k > least; k-- {
		if items[k].Role != conversation.Tool {
			continue
		}
		if b := rd.answerOf(k); b < begun && i-b <= far && !items[b].Pinned {
			begun, least = b, min(least, b)
		}
	}
	for k := i; k >= begun && k >= least; k-- {
		items[k].Pinned = true
	}
}

// isPartOfAnswer reports whether an item may go on with what stands before it.
func isPartOfAnswer(it *conversation.Item) bool {
	return it.Role != conversation.User && it.Role != conversation.System
}
