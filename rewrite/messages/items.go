package messages

import (
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// message is one that was read, beside its blocks.
type message struct {
	span.Span
	role    conversation.Role
	content span.Span // its value, whatever kind it is; empty if there is none or it is null
}

// itemsOf are the items of a message, whose blocks were read if its content is a list.
func (rd *reader) itemsOf(m *message) []conversation.Item {
	it := conversation.Item{Span: m.Span, Role: m.role, Content: m.content}
	first := byte('n')
	if !m.content.Empty() {
		first = rd.req.Body[m.content.Start]
	}
	switch {
	case first == '[' && m.role == conversation.Assistant:
		rd.fill(&it)
	case first == '[' && m.role == conversation.User && len(rd.blocks) > 0:
		return rd.userItems(m)
	case first != '[' && first != '"': // nobody knows here what that says
		it.Content, it.Pinned, it.Locked = span.Span{}, true, true
	}
	return []conversation.Item{it}
}

// fill takes the blocks of a message of the model: its calls, what it thought, and what it said, as the one text of it
// if there is nothing else.
func (rd *reader) fill(it *conversation.Item) {
	var said []span.Span
	sole := true
	for _, b := range rd.blocks {
		switch b.kind {
		case textBlock:
			said = append(said, b.value)
		case callBlock:
			it.Calls = append(it.Calls, conversation.Call{Span: b.Span, ID: b.id, Name: b.name, Arguments: b.value})
		case thoughtBlock:
			it.Thinking = append(it.Thinking, conversation.Thought{Span: b.Span, Text: b.value})
			if b.value.End-b.value.Start > it.Thoughts.End-it.Thoughts.Start {
				it.Thoughts = b.value
			}
		default:
			sole = false
			it.Compacts = it.Compacts || b.kind == compactionBlock
			if b.kind != serverBlock && b.kind != mediaBlock {
				it.Pinned, it.Locked = true, true
			}
		}
	}
	switch {
	case sole && len(said) == 0:
		it.Content = span.Span{}
	case sole && len(said) == 1 && rd.req.Body[said[0].Start] == '"':
		it.Content = said[0]
	}
}

// userItems are the items of a user's message with blocks: each result, and each run of other blocks. A result behind
// such a run stays: without it two runs would be one.
func (rd *reader) userItems(m *message) (items []conversation.Item) {
	said := false
	for n := 0; n < len(rd.blocks); {
		b := &rd.blocks[n]
		if b.kind == resultBlock {
			items = append(items, conversation.Item{Span: b.Span, Outer: m.Span, Role: conversation.Tool,
				Content: b.value, Answers: b.id, Verdict: b.ended, Pinned: b.loads || said, Locked: b.loads})
			n++
			continue
		}
		it := conversation.Item{Span: b.Span, Outer: m.Span, Role: conversation.User}
		for ; n < len(rd.blocks) && rd.blocks[n].kind != resultBlock; n++ {
			kind := rd.blocks[n].kind
			it.End = rd.blocks[n].End
			it.Locked = it.Locked || kind != textBlock && kind != mediaBlock
		}
		it.Content, it.Pinned, said = it.Span, it.Locked, true
		items = append(items, it)
	}
	return items
}

// add appends an item. Messages of the model that follow one another are one answer, and so is all that belongs to it:
// what stays of it stays as a whole.
func (rd *reader) add(it conversation.Item) {
	r := rd.req
	before := len(r.Items) - 1
	it.Begins = it.Role == conversation.Assistant && (before < 0 || r.Items[before].Role != conversation.Assistant)
	r.Items = append(r.Items, it)
	i := before + 1
	if it.Begins {
		rd.answer = i + 1
	}
	switch it.Role {
	case conversation.Tool:
	case conversation.Unknown: // nobody knows here whom it answers
		r.Items[i].Pinned = true
	case conversation.Assistant:
		if it.Begins {
			return
		}
	default:
		return
	}
	conversation.PinFrom(r, rd.answerOf(i), i)
}

// answerOf is where the answer of the model begins to which item i belongs: the last one before it, or the one whose
// call it answers. It is i itself if there is none among the items before.
func (rd *reader) answerOf(i int) int {
	const far = 200 // items; what is broken so much is left to the checker
	items := rd.req.Items
	isCalled := func(c conversation.Call) bool { return c.ID == items[i].Answers }
	for k := i - 1; k >= max(0, i-far); k-- {
		if items[k].Role == conversation.Assistant &&
			(items[i].Role != conversation.Tool || slices.ContainsFunc(items[k].Calls, isCalled)) {
			return rd.beginning(k)
		}
	}
	return i
}

// beginning is where the answer begins to which item k, one of the model's, belongs. An answer may be of thousands.
func (rd *reader) beginning(k int) int {
	if rd.answer > 0 && k >= rd.answer-1 {
		return rd.answer - 1
	}
	for k > 0 && !rd.req.Items[k].Begins {
		k--
	}
	return k
}
