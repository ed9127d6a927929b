package history

import (
	"fmt"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// block is a message or call in a transcript.
type block struct{ heading, text string }

// Transcript returns n items behind the head, from item i on, as text: each under a heading, with its own ends of
// lines. name is that of the artifact with the same as JSON. A part of it stands in each heading and in no text, so
// that nothing that was said can pass for one. The result depends on the messages and the name alone, so that it can
// be made again.
func Transcript(r *conversation.Request, i, n int, name string) []byte {
	t := transcript{req: r, calls: action.NewCalls(), number: conversation.NumberOf(r, r.Head+i)}
	first := t.number
	for k := i - 1; k >= 0; k-- { // a user may have spoken between call and result
		if it := &r.Items[r.Head+k]; it.Role == conversation.Assistant {
			t.calls.Learn(r, it)
			break
		}
	}
	for k := i; k < i+n; k++ {
		t.add(r.Head + k)
	}
	id := partUnlike(name, t.blocks)
	const frame = 32 // bytes around each block, about
	size := 200      // of the first line
	for _, o := range t.blocks {
		size += len(o.heading) + len(o.text) + frame
	}
	b := fmt.Appendf(make([]byte, 0, size), "[%s: messages %d-%d of a conversation as text; as JSON, to the byte, they are in %s.txt beside this file]\n\n",
		id, first, t.number, name)
	for _, o := range t.blocks {
		b = fmt.Appendf(b, "[%s: %s]\n%s", id, o.heading, o.text)
		if o.text != "" && !strings.HasSuffix(o.text, "\n") {
			b = append(b, '\n')
		}
		b = append(b, '\n')
	}
	return b
}

// transcript is one that is being written.
type transcript struct {
	req    *conversation.Request
	calls  *action.Calls
	blocks []block
	number int // of the message that was added last
}

// add appends what item i of all says, and what it calls.
func (t *transcript) add(i int) {
	it := &t.req.Items[i]
	if len(t.blocks) > 0 && it.Place() != t.req.Items[i-1].Place() {
		t.number++
	}
	heading, text := fmt.Sprintf("message %d: %s", t.number, it.Role), spoken(t.req, it)
	switch it.Role {
	case conversation.Assistant:
		t.calls.Learn(t.req, it)
	case conversation.Tool:
		heading = fmt.Sprintf("message %d: tool result of %s", t.number, t.answered(it, text))
	}
	t.blocks = append(t.blocks, block{heading, text})
	for _, c := range it.Calls {
		raw := c.Arguments.Of(t.req.Body)
		heading = "call of " + shorten.OneLine(c.Name, shell.LongestPath)
		t.blocks = append(t.blocks, block{heading, spelledOut(span.TextOf(raw), c.FreeText || !t.calls.Reads(raw))})
	}
}

// answered says which call a result with the text is for, and how that ended.
func (t *transcript) answered(it *conversation.Item, text string) string {
	c := t.calls.SourceOf(it)
	s := shorten.OneLine(c.About(), shell.LongestPath)
	if state := ending.StateOf(&c, it.Content.Of(t.req.Body), text); state != "" {
		s += ", " + state
	}
	return s
}

// longestOther is the size in bytes up to which what is no text stands in a transcript: a picture in it helps nobody.
const longestOther = 1_000

// spoken returns what an item says. What is no text stands there as JSON, if it is short.
func spoken(r *conversation.Request, it *conversation.Item) string {
	var s strings.Builder
	parts, err := r.Parts(it)
	if err == nil && len(parts) == 1 && parts[0].Kind == conversation.TextPart {
		if text, err := span.Unquote(parts[0].Value.Of(r.Body)); err == nil {
			return text
		}
	}
	for _, p := range parts {
		if s.Len() > 0 && !strings.HasSuffix(s.String(), "\n") {
			s.WriteByte('\n')
		}
		switch raw := p.Value.Of(r.Body); {
		case p.Kind == conversation.TextPart:
			s.Write(span.TextOf(raw))
		case len(raw) <= longestOther:
			s.Write(raw)
		default:
			fmt.Fprintf(&s, "(%d bytes that are no text)", len(raw))
		}
	}
	if err != nil { // odd: as it stands
		return string(it.Content.Of(r.Body))
	}
	return s.String()
}

// spelledOut returns what the arguments of a call say: each under its key, texts as they are, and all else as JSON. If
// they are free, they are no JSON, or too much to be read.
func spelledOut(arguments []byte, free bool) string {
	start := span.SkipSpace(arguments, 0)
	if free || !span.Valid(arguments) || arguments[start] != '{' {
		return string(arguments)
	}
	var s strings.Builder
	_, err := span.Members(arguments, start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(arguments, i)
		if err != nil {
			return 0, err
		}
		text, gap := string(arguments[i:end]), " "
		if arguments[i] == '"' {
			text = string(span.TextOf(arguments[i:end]))
		}
		if strings.Contains(text, "\n") {
			gap = "\n"
		}
		fmt.Fprintf(&s, "%s:%s%s\n", key, gap, strings.TrimSuffix(text, "\n"))
		return end, nil
	})
	if err != nil { // odd: as they stand
		return string(arguments)
	}
	return s.String()
}

// partUnlike returns a part of an artifact's name, which whoever wrote its content could not know, that stands in none
// of the blocks.
func partUnlike(name string, list []block) string {
	const size = 8 // characters
	for i := 0; i+size <= len(name); i++ {
		if id := name[i : i+size]; !stands(id, list) {
			return id
		}
	}
	return name
}

// stands reports whether a text stands in one of the blocks.
func stands(text string, list []block) bool {
	for _, b := range list {
		if strings.Contains(b.heading, text) || strings.Contains(b.text, text) {
			return true
		}
	}
	return false
}
