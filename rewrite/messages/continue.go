package messages

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// This file puts a text behind a conversation.

// ending is how a conversation ends.
type ending struct {
	last  message // that is not the system's; empty if there is none
	count int     // of all messages
	marks marks   // in messages
	list  span.Span
}

// readEnding reads the messages.
func (c *continuation) readEnding() (e ending, err error) {
	e.list = c.settings.Value("messages")
	if e.list.Empty() || c.body[e.list.Start] != '[' {
		return e, errNoMessages
	}
	_, err = span.Elements(c.body, e.list.Start, func(i int) (int, error) {
		o, err := span.ObjectAt(c.body, i)
		if err != nil {
			return 0, err
		}
		end, err := span.EndOfValue(c.body, i)
		if err != nil {
			return 0, err
		}
		m := message{Span: span.Span{Start: i, End: end}, content: o.Value("content")}
		m.role = roleOf(o.Value("role").Of(c.body))
		if e.count++; m.role != conversation.System {
			e.last = m
		}
		return end, e.marks.add(c.body, m.content, true)
	})
	return e, err
}

// marks are marks for the provider's cache.
type marks struct {
	count int
	last  span.Span // what the last one says
}

// add adds those of the blocks in a list, and of the blocks in those.
func (m *marks) add(body []byte, list span.Span, inside bool) error {
	if list.Empty() || body[list.Start] != '[' {
		return nil
	}
	_, err := span.Elements(body, list.Start, func(i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if err != nil || body[i] != '{' {
			return end, err
		}
		o, err := span.ObjectAt(body, i)
		if err != nil {
			return 0, err
		}
		if v := span.UnlessNull(body, o.Value(marker)); !v.Empty() {
			m.count, m.last = m.count+1, v
		}
		if inside {
			err = m.add(body, o.Value("content"), false)
		}
		return end, err
	})
	return err
}

// mark is what marks the end of the conversation as the client marked what stands before the messages, so that the
// provider finds what it has cached up to there: the client's own mark stood there once, and went with the messages
// behind. It is empty where a message is marked, where the provider marks by itself, and where nothing is cached.
func (c *continuation) mark(e *ending) (string, error) {
	before := marks{}
	for _, key := range [...]string{"tools", "system"} {
		if err := before.add(c.body, c.settings.Value(key), true); err != nil {
			return "", err
		}
	}
	automatic := !span.UnlessNull(c.body, c.settings.Value(marker)).Empty()
	if e.marks.count > 0 || automatic || before.count == 0 || before.count >= mostMarks {
		return "", nil
	}
	return string(before.last.Of(c.body)), nil
}

// say puts a text behind all that was said: behind the user's last words and results, or as a message of its own.
// What the system says last stays last.
func (c *continuation) say(text string) ([]span.Edit, error) {
	e, err := c.readEnding()
	if err != nil {
		return nil, err
	}
	mark, err := c.mark(&e)
	switch {
	case err != nil:
		return nil, err
	case e.count == 0:
		return insert(e.list.End-1, string(Dialect{}.Message(conversation.User, text))), nil
	case e.last.role == conversation.User:
		return c.sayBehind(&e, text, mark)
	case e.last.role != conversation.Assistant:
		return nil, errOdd
	}
	blocks, err := c.blocksOf(e.last.content)
	switch {
	case err != nil:
		return nil, err
	case isOpen(blocks):
		return nil, errOpen
	}
	edits := insert(e.last.End, ","+string(Dialect{}.Message(conversation.User, text)))
	return append(edits, c.marking(blocks, mark)...), nil
}

// sayBehind puts a text behind the user's last message, into it.
func (c *continuation) sayBehind(e *ending, text, mark string) ([]span.Edit, error) {
	block := string(appendText(nil, text))
	said := e.last.content.Of(c.body)
	switch {
	case isText(said):
		if mark != "" {
			mark = `,"` + marker + `":` + mark
		}
		return append(insert(e.last.content.Start, `[{"type":"text","text":`),
			insert(e.last.content.End, mark+`},`+block+`]`)...), nil
	case len(said) > 0 && said[0] == '"': // it says nothing
		return []span.Edit{{Span: e.last.content, With: span.AppendQuoted(nil, text)}}, nil
	case len(said) == 0 || said[0] != '[':
		return nil, errOdd
	}
	blocks, err := c.blocksOf(e.last.content)
	if err != nil {
		return nil, err
	}
	if len(blocks) > 0 {
		block = "," + block
	}
	return append(c.marking(blocks, mark), insert(e.last.content.End-1, block)...), nil
}

// blocksOf reads the blocks of a content; a string has none.
func (c *continuation) blocksOf(content span.Span) (blocks []block, err error) {
	if content.Empty() || c.body[content.Start] != '[' {
		return nil, nil
	}
	_, err = span.Elements(c.body, content.Start, func(i int) (int, error) {
		b, err := readBlock(c.body, i)
		blocks = append(blocks, b)
		return b.End, err
	})
	return blocks, err
}

// marking marks the last block, if it can be.
func (c *continuation) marking(blocks []block, mark string) []span.Edit {
	if mark == "" || len(blocks) == 0 {
		return nil
	}
	switch last := &blocks[len(blocks)-1]; {
	case last.kind == textBlock && isText(last.value.Of(c.body)), last.kind == resultBlock, last.kind == mediaBlock:
		o, err := span.ObjectAt(c.body, last.Start)
		if err != nil {
			return nil
		}
		o.Set(marker, mark)
		return o.Edits()
	}
	return nil
}

// insert puts bytes where nothing goes.
func insert(at int, with string) []span.Edit {
	return []span.Edit{{Span: span.Span{Start: at, End: at}, With: []byte(with)}}
}
