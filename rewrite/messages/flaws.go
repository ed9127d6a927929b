package messages

import (
	"fmt"
	"maps"
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// mostMarks is how many marks for the cache a request may have, all told.
const mostMarks = 4

// checker goes through a request once, as a server does that refuses what it finds: over its bytes, not over the items
// that were read of them. Messages of one role that follow one another are one.
type checker struct {
	body  []byte
	flaws []conversation.Flaw
	count int // messages so far
	marks int
	role  conversation.Role // of the message before
	users bool              // there was a message that is not the system's

	called map[string]bool // ids of all calls
	older  map[string]bool // of those of older answers
	open   map[string]int  // calls of the last answer, with their results so far
	remote map[string]bool // calls of the last answer that ran at the provider and have no result yet
	answer answer
	other  bool // of the message of the user: it has said more than results
	next   bool // and it stands right behind the last answer
	round  round
	hollow bool // the message before is the model's and says nothing: only the last one may be so
}

// answer is what was seen of the model's last message.
type answer struct{ begun, thinksFirst, thinks bool }

// round is all that the model says and calls for one message of the user.
type round struct {
	manual bool   // the model must think first in it
	over   bool   // the user's last message ends in something else than a result: what comes is another round
	first  answer // its first answer
	goesOn bool   // there are more of them
}

// Flaws returns all rules that the request breaks. Calls of the last message must be answered too.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	c := checker{body: r.Body, called: map[string]bool{}, older: map[string]bool{}}
	_ = span.Document(r.Body, func(key []byte, i int) (int, error) { // it was read before
		switch {
		case string(key) == "messages" && r.Body[i] == '[':
			return span.Elements(r.Body, i, c.message)
		case string(key) == "system" && r.Body[i] == '[':
			return c.readInner(i)
		case string(key) == "tools" && r.Body[i] == '[':
			return span.Elements(r.Body, i, c.tool)
		case string(key) == "thinking" && r.Body[i] == '{':
			return span.Members(r.Body, i, c.setting)
		}
		end, err := span.EndOfValue(r.Body, i)
		if string(key) == marker && err == nil && !span.UnlessNull(r.Body, span.Span{Start: i, End: end}).Empty() {
			c.mark()
		}
		return end, err
	})
	if c.round.manual && c.role == conversation.User && len(c.open) > 0 { // it is open
		if !c.answer.thinksFirst {
			c.here(conversation.RuleThinking)
		}
		if c.round.goesOn && !c.round.first.thinksFirst {
			c.here(conversation.RuleThinking)
		}
	}
	c.close(c.role != conversation.Assistant)
	return c.flaws
}

func (c *checker) add(rule, call string) {
	c.flaws = append(c.flaws, conversation.Flaw{Rule: rule, Call: call})
}

// here adds a flaw of the message that is looked at.
func (c *checker) here(rule string) { c.add(rule, fmt.Sprint(c.count)) }

// mark counts one more mark for the cache.
func (c *checker) mark() {
	if c.marks++; c.marks > mostMarks {
		c.here(conversation.RuleMarks)
	}
}

// tool looks at the declaration of a tool that begins at body[i].
func (c *checker) tool(i int) (int, error) {
	if c.body[i] != '{' {
		return span.EndOfValue(c.body, i)
	}
	b, err := readBlock(c.body, i)
	if b.marked {
		c.mark()
	}
	return b.End, err
}

// setting looks at how the model is to think.
func (c *checker) setting(key []byte, i int) (int, error) {
	end, err := span.EndOfValue(c.body, i)
	c.round.manual = c.round.manual || err == nil && string(key) == "type" && string(c.body[i:end]) == `"enabled"`
	return end, err
}

// readInner looks at the texts and marks of the blocks of the list that begins at body[i], in the system's text or a
// result.
func (c *checker) readInner(i int) (int, error) {
	return span.Elements(c.body, i, func(i int) (int, error) {
		b, err := readBlock(c.body, i)
		c.block(&b)
		return b.End, err
	})
}

// block looks at what every block must keep.
func (c *checker) block(b *block) {
	blank := b.kind == textBlock && isBlank(b.value.Of(c.body))
	if blank {
		c.here(conversation.RuleBlank)
	}
	if b.marked {
		c.mark()
		if blank || b.kind == thoughtBlock {
			c.here(conversation.RuleMarked)
		}
	}
}

// isBlank reports whether a JSON string has nothing but spaces and ends of lines. What is no string is so too.
func isBlank(v []byte) bool {
	if len(v) < 2 || v[0] != '"' {
		return true
	}
	for v = v[1 : len(v)-1]; len(v) > 0; {
		switch {
		case v[0] == ' ':
			v = v[1:]
		case len(v) > 1 && v[0] == '\\' && (v[1] == 'n' || v[1] == 't' || v[1] == 'r'):
			v = v[2:]
		default:
			return false
		}
	}
	return true
}

// message looks at the message that begins at body[i].
func (c *checker) message(i int) (int, error) {
	m := message{}
	var blocks []block
	end, err := span.Members(c.body, i, func(key []byte, i int) (int, error) {
		if string(key) == "content" && c.body[i] == '[' {
			rd := reader{req: &conversation.Request{Body: c.body}}
			end, err := rd.readBlocks(i)
			m.content, blocks = span.Span{Start: i, End: end}, rd.blocks
			return end, err
		}
		end, err := span.EndOfValue(c.body, i)
		switch {
		case err != nil:
		case string(key) == "role":
			m.role = roleOf(c.body[i:end])
		case string(key) == "content":
			m.content = span.UnlessNull(c.body, span.Span{Start: i, End: end})
		}
		return end, err
	})
	if err == nil {
		c.enter(m.role, len(blocks) > 0 && blocks[0].kind == compactionBlock)
		c.content(&m, blocks)
		c.role = m.role
		c.count++
	}
	return end, err
}

// enter begins a message of a role.
func (c *checker) enter(role conversation.Role, compacted bool) {
	before := c.role
	if c.hollow {
		c.here(conversation.RuleNothing)
		c.hollow = false
	}
	switch role {
	case conversation.Unknown:
		c.here(conversation.RuleRole)
		c.other, c.next = false, before == conversation.Assistant
	case conversation.System:
		if c.count == 0 || before == conversation.Assistant {
			c.here(conversation.RuleSystem)
		}
		return
	case conversation.Assistant:
		c.other, c.next = false, false // no result may stand in it
		if before != conversation.Assistant {
			c.close(true)
		}
		if c.round.over {
			c.round = round{manual: c.round.manual}
		} else if before != conversation.Assistant {
			c.round.goesOn = true
		}
	case conversation.User:
		if before == conversation.System {
			c.here(conversation.RuleSystem)
		}
		if before != conversation.User {
			c.other, c.next = false, before == conversation.Assistant
		}
	}
	if !c.users && role != conversation.User && !compacted {
		c.here(conversation.RuleFirst)
	}
	c.users = true
}

// content looks at what a message says.
func (c *checker) content(m *message, blocks []block) {
	raw := m.content.Of(c.body)
	switch {
	case len(blocks) > 0:
		for k := range blocks {
			c.take(m.role, &blocks[k])
		}
		return
	case len(raw) > len(`""`) && raw[0] == '"':
		if isBlank(raw) {
			c.here(conversation.RuleBlank)
		}
		if m.role == conversation.Assistant {
			c.begin(false)
		}
	case m.role == conversation.Assistant:
		c.hollow = true
	default:
		c.here(conversation.RuleNothing)
	}
	c.other = true
	c.round.over = c.round.over || m.role == conversation.User
}

// take looks at one block of a message.
func (c *checker) take(role conversation.Role, b *block) {
	c.block(b)
	switch {
	case b.kind == resultBlock:
		c.result(b)
		if role == conversation.Assistant { // where none may stand
			c.begin(false)
		}
	case role == conversation.Assistant:
		c.answered(b)
	}
	c.other = c.other || b.kind != resultBlock
	if role == conversation.User {
		c.round.over = b.kind != resultBlock
	}
}

// answered looks at one block of the model's.
func (c *checker) answered(b *block) {
	switch b.kind {
	case compactionBlock: // what stands before it does not count
		c.answer = answer{}
		return
	case serverBlock, oddBlock:
		if b.answers {
			if b.kind == serverBlock && !c.remote[b.id] {
				c.add(conversation.RuleOrphan, b.id)
			}
			delete(c.remote, b.id)
		} else if b.kind == serverBlock && b.id != "" {
			c.remote[b.id] = true
		}
	case callBlock:
		if c.called[b.id] {
			c.add(conversation.RuleRepeated, b.id)
		}
		if b.value.Empty() || c.body[b.value.Start] != '{' {
			c.add(conversation.RuleArguments, b.id)
		}
		c.called[b.id], c.open[b.id] = true, 0
	}
	c.begin(b.kind == thoughtBlock)
}

// begin notes that the model's message says something.
func (c *checker) begin(thought bool) {
	if !c.answer.begun {
		c.answer.begun, c.answer.thinksFirst = true, thought
	}
	if !c.round.first.begun {
		c.round.first = c.answer
	}
	if thought && !c.answer.thinksFirst && !c.answer.thinks {
		c.here(conversation.RuleThinking)
	}
	c.answer.thinks = c.answer.thinks || thought
}

// result looks at the result of a call.
func (c *checker) result(b *block) {
	if !b.value.Empty() {
		switch c.body[b.value.Start] {
		case '[':
			_, _ = c.readInner(b.value.Start) // it was read before
		case '"':
			if isBlank(b.value.Of(c.body)) {
				c.here(conversation.RuleBlank)
			}
		}
	}
	n, called := c.open[b.id]
	switch {
	case called && !c.next, !called && c.older[b.id]:
		c.add(conversation.RuleApart, b.id)
	case !called:
		c.add(conversation.RuleOrphan, b.id)
	case n > 0:
		c.add(conversation.RuleAnsweredTwice, b.id)
	case c.other:
		c.add(conversation.RuleLate, b.id)
	}
	if called {
		c.open[b.id] = n + 1
	}
}

// close ends the model's last message with its results. more says that something came behind it: without that, tools
// that run at the provider may go on.
func (c *checker) close(more bool) {
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		if c.open[id] == 0 {
			c.add(conversation.RuleUnanswered, id)
		}
		c.older[id] = true
	}
	if more {
		for _, id := range slices.Sorted(maps.Keys(c.remote)) {
			c.add(conversation.RuleUnanswered, id)
		}
	}
	c.open, c.remote, c.answer = map[string]int{}, map[string]bool{}, answer{}
}
