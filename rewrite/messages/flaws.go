package messages

import (
	"bytes"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// checker goes over the bytes of a request once, as a server does that refuses what it finds. To it, messages of one
// role in a row are one message.
type checker struct {
	conversation.FlawList
	parser
	marks  int
	role   conversation.Role // of the message before
	spoken bool              // there was a message that is not the system's
	empty  bool              // the message before is the model's and says nothing: only the last one may be so

	called  map[string]bool // ids of all calls
	open    map[string]int  // ids of the calls of the last answer, with the number of their results
	running map[string]bool // calls of the last answer that run at the provider and have no result yet
	answer  turn
	follows bool // the message stands right behind the last answer: results may stand in it
	late    bool // and it has said more than results

	manual    bool   // the model must think first in every answer of an open round
	round     []turn // the answers to one message of the user
	roundOver bool   // the user's last message ends in more than results: the next answer begins a round
}

// turn is what is known of one answer of the model.
type turn struct{ begun, thinksFirst, thinks bool }

// Flaws lists every rule of the API that the request breaks. Calls of the last message must be answered, too.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	c := checker{parser: parser{body: r.Body}, called: map[string]bool{}}
	_ = jsonspan.Document(r.Body, func(key []byte, i int) (end int, err error) { // it was read before
		isList := r.Body[i] == '['
		switch {
		case string(key) == "messages" && isList:
			return jsonspan.Elements(r.Body, i, c.readMessage)
		case isList && (string(key) == "system" || string(key) == "tools"):
			list, end, err := c.list(i, true)
			c.blocks(list)
			return end, err
		}
		end, err = jsonspan.EndOfValue(r.Body, i)
		v := jsonspan.Span{Start: i, End: max(i, end)}
		switch string(key) {
		case "thinking":
			c.manual = gjson.GetBytes(v.Of(r.Body), "type").Str == "enabled"
		case marker:
			if !jsonspan.UnlessNull(r.Body, v).Empty() {
				c.mark()
			}
		}
		return end, err
	})
	if c.manual && c.role == conversation.User && len(c.open) > 0 {
		for k, t := range c.round {
			if (k == 0 || k == len(c.round)-1) && !t.thinksFirst {
				c.AddHere(conversation.RuleThinking)
			}
		}
	}
	c.endAnswer(c.role != conversation.Assistant)
	return c.Flaws
}

// mark counts one more mark for the cache.
func (c *checker) mark() {
	if c.marks++; c.marks > mostMarks {
		c.AddHere(conversation.RuleMarks)
	}
}

// blocks checks what every block must keep.
func (c *checker) blocks(list []block) {
	for k := range list {
		b := &list[k]
		isBlank := b.kind == textBlock && isBlank(b.value.Of(c.body))
		if isBlank {
			c.AddHere(conversation.RuleBlank)
		}
		if b.isMarked {
			c.mark()
			if isBlank || b.kind == thoughtBlock {
				c.AddHere(conversation.RuleMarked)
			}
		}
		if b.kind == resultBlock {
			c.blocks(b.inner)
		}
	}
}

// isBlank reports whether a JSON string has nothing but white space. What is no string is blank too.
func isBlank(v []byte) bool {
	if len(v) < 2 || v[0] != '"' {
		return true
	}
	mayBe := v[1] == ' ' || v[1] == '\\' || v[1] == '"'
	return mayBe && len(bytes.TrimSpace(jsonspan.TextOf(v))) == 0
}

// readMessage checks the message that begins at body[i].
func (c *checker) readMessage(i int) (int, error) {
	m, err := c.message(i)
	if err != nil {
		return 0, err
	}
	c.enter(&m)
	c.blocks(m.blocks)
	for k := range m.blocks {
		c.take(m.role, &m.blocks[k])
	}
	if len(m.blocks) == 0 {
		c.takeText(&m)
	}
	c.Count++
	return m.End, nil
}

// enter checks whether a message may stand behind the one before.
func (c *checker) enter(m *message) {
	before := c.role
	c.role = m.role
	if c.empty {
		c.AddHere(conversation.RuleNothing)
		c.empty = false
	}
	switch m.role {
	case conversation.Unknown:
		c.AddHere(conversation.RuleRole)
	case conversation.System:
		if c.Count == 0 || before == conversation.Assistant {
			c.AddHere(conversation.RuleSystem)
		}
		return
	case conversation.Assistant:
		if before != conversation.Assistant {
			c.endAnswer(true)
		}
		if c.roundOver {
			c.round, c.roundOver = nil, false
		}
	case conversation.User:
		if before == conversation.System {
			c.AddHere(conversation.RuleSystem)
		}
	}
	if m.role != before {
		c.late, c.follows = false, before == conversation.Assistant
	}
	startsWithSummary := len(m.blocks) > 0 && m.blocks[0].kind == compactionBlock
	if !c.spoken && m.role != conversation.User && !startsWithSummary {
		c.AddHere(conversation.RuleFirst)
	}
	c.spoken = true
}

// takeText checks a message that has no blocks.
func (c *checker) takeText(m *message) {
	raw := m.content.Of(c.body)
	switch {
	case len(raw) > len(`""`) && raw[0] == '"':
		if isBlank(raw) {
			c.AddHere(conversation.RuleBlank)
		}
		if m.role == conversation.Assistant {
			c.begin(false)
		}
	case m.role == conversation.Assistant:
		c.empty = true
	default:
		c.AddHere(conversation.RuleNothing)
	}
	c.late = true
	c.roundOver = c.roundOver || m.role == conversation.User
}

// take checks one block of a message.
func (c *checker) take(role conversation.Role, b *block) {
	switch {
	case b.kind == resultBlock:
		c.takeResult(b)
		if role == conversation.Assistant { // where none may stand
			c.begin(false)
		}
	case role == conversation.Assistant:
		c.takeAnswer(b)
	}
	c.late = c.late || b.kind != resultBlock
	if role == conversation.User {
		c.roundOver = b.kind != resultBlock
	}
}

// takeAnswer checks a block of the model's.
func (c *checker) takeAnswer(b *block) {
	switch b.kind {
	case compactionBlock: // nothing before it counts
		c.answer, c.round = turn{}, nil
		return
	case serverBlock, oddBlock:
		if b.answers {
			if b.kind == serverBlock && !c.running[b.id] {
				c.Add(conversation.RuleOrphan, b.id)
			}
			delete(c.running, b.id)
		} else if b.kind == serverBlock && b.id != "" {
			c.running[b.id] = true
		}
	case callBlock:
		if c.called[b.id] {
			c.Add(conversation.RuleRepeated, b.id)
		}
		if b.value.Empty() || c.body[b.value.Start] != '{' {
			c.Add(conversation.RuleArguments, b.id)
		}
		c.called[b.id], c.open[b.id] = true, 0
	}
	c.begin(b.kind == thoughtBlock)
}

// begin notes that an answer says something.
func (c *checker) begin(thinks bool) {
	if !c.answer.begun {
		c.answer = turn{begun: true, thinksFirst: thinks}
		c.round = append(c.round, c.answer)
	}
	if thinks && !c.answer.thinksFirst && !c.answer.thinks {
		c.AddHere(conversation.RuleThinking)
	}
	c.answer.thinks = c.answer.thinks || thinks
}

// takeResult checks the result of a call.
func (c *checker) takeResult(b *block) {
	if raw := b.value.Of(c.body); len(raw) > 0 && raw[0] == '"' && isBlank(raw) {
		c.AddHere(conversation.RuleBlank)
	}
	n, isOpen := c.open[b.id]
	switch {
	case isOpen && !c.follows, !isOpen && c.called[b.id]:
		c.Add(conversation.RuleApart, b.id)
	case !isOpen:
		c.Add(conversation.RuleOrphan, b.id)
	case n > 0:
		c.Add(conversation.RuleAnsweredTwice, b.id)
	case c.late:
		c.Add(conversation.RuleLate, b.id)
	}
	if isOpen {
		c.open[b.id] = n + 1
	}
}

// endAnswer ends the model's last answer with its results. isOver says that more came behind it: without that, tools
// that run at the provider may go on.
func (c *checker) endAnswer(isOver bool) {
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		if c.open[id] == 0 {
			c.Add(conversation.RuleUnanswered, id)
		}
	}
	if isOver {
		for _, id := range slices.Sorted(maps.Keys(c.running)) {
			c.Add(conversation.RuleUnanswered, id)
		}
	}
	c.open, c.running, c.answer = map[string]int{}, map[string]bool{}, turn{}
}
