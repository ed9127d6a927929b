package history

import (
	"bytes"
	"fmt"
	"strings"
	"unsafe"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// Transcript returns n items behind the head, from item i on, as text: each under a heading, with its own ends of
// lines. name is that of the artifact with the same as JSON. A part of it stands in each heading and in no text, so
// that nothing that was said can pass for one. The result depends on the messages and the name alone, so that it can
// be made again.
func Transcript(r *conversation.Request, i, n int, name string) []byte {
	const size = 8 // characters of a name that nobody writes by chance
	t := written(r, conversation.Group{First: i, End: i + n}, name, min(size, len(name)))
	for at := 0; at+size <= len(name); at++ {
		if id := name[at : at+size]; !bytes.Contains(t.text[t.begin:], []byte(id)) {
			return t.putName(id)
		}
	}
	if t.width < len(name) { // whoever wrote it knew the name, which nobody can
		t = written(r, conversation.Group{First: i, End: i + n}, name, len(name))
	}
	return t.putName(name)
}

// transcript is one that is being written. It is written once, as what it says may be very much: the name in the
// headings is put in at the end.
type transcript struct {
	req    *conversation.Request
	calls  *activity.Calls
	text   []byte
	begin  int   // of the first heading
	width  int   // bytes of the name
	names  []int // where it goes
	number int   // of the message that was added last
}

// written is a transcript of items behind the head, without a name.
func written(r *conversation.Request, g conversation.Group, name string, width int) *transcript {
	t := &transcript{req: r, calls: activity.NewCalls(), number: conversation.NumberOf(r, r.Head+g.First), width: width}
	for k := g.First - 1; k >= 0; k-- { // a user may have spoken between call and result
		if it := &r.Items[r.Head+k]; it.Role == conversation.Assistant {
			t.calls.Learn(r, it)
			break
		}
	}
	last, size := t.number, 300
	for k := r.Head + g.First; k < r.Head+g.End; k++ {
		size += sizeOf(r, &r.Items[k])
		if k > r.Head+g.First && r.Items[k].Place() != r.Items[k-1].Place() {
			last++
		}
	}
	t.text = make([]byte, 0, size)
	t.head(fmt.Sprintf("messages %d-%d of a conversation as text; as JSON, to the byte, they are in %s.txt beside this file",
		t.number, last, name))
	t.text = append(t.text, '\n')
	t.begin = len(t.text)
	for k := g.First; k < g.End; k++ {
		t.add(r.Head+k, k == g.First)
	}
	return t
}

// sizeOf is about how many bytes an item has in a transcript.
func sizeOf(r *conversation.Request, it *conversation.Item) (size int) {
	const frame = 120 // bytes around what is said
	size = frame
	parts, _ := r.Parts(it) // what cannot be read is seldom
	for _, p := range parts {
		if n := p.Value.End - p.Value.Start; p.Kind == conversation.TextPart || n <= longestOther {
			size += n
		}
	}
	for _, c := range it.Calls {
		size += frame + c.Arguments.End - c.Arguments.Start
	}
	return size
}

// putName puts the name in, and returns the transcript.
func (t *transcript) putName(id string) []byte {
	for _, at := range t.names {
		copy(t.text[at:], id)
	}
	return t.text
}

// head writes a heading.
func (t *transcript) head(heading string) {
	t.names = append(t.names, len(t.text)+1)
	t.text = append(append(t.text, '['), make([]byte, t.width)...)
	t.text = append(append(append(t.text, ": "...), heading...), "]\n"...)
}

// say writes a text under its heading.
func (t *transcript) say(heading, text string) {
	t.head(heading)
	t.text = append(t.text, text...)
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.text = append(t.text, '\n')
	}
	t.text = append(t.text, '\n')
}

// add appends what item i of all says, and what it calls.
func (t *transcript) add(i int, first bool) {
	it := &t.req.Items[i]
	if !first && it.Place() != t.req.Items[i-1].Place() {
		t.number++
	}
	heading, text := fmt.Sprintf("message %d: %s", t.number, it.Role), spoken(t.req, it)
	switch it.Role {
	case conversation.Assistant:
		t.calls.Learn(t.req, it)
	case conversation.Tool:
		heading = fmt.Sprintf("message %d: tool result of %s", t.number, t.answered(it))
	}
	t.say(heading, text)
	for _, c := range it.Calls {
		raw := c.Arguments.Of(t.req.Body)
		t.say("call of "+shorten.OneLine(c.Name, longestHeading),
			spelledOut(span.TextOf(raw), c.FreeText || len(raw) > 1<<20))
	}
}

// answered says which call a result is for, and how that ended.
func (t *transcript) answered(it *conversation.Item) string {
	c := t.calls.Answered(it)
	s := shorten.OneLine(c.String(), longestHeading)
	if state := c.State(c.Exit(it.Content.Of(t.req.Body))); state != "" {
		s += ", " + state
	}
	return s
}

const longestHeading = 1_000 // characters

// longestOther is the size in bytes up to which what is no text stands in a transcript: a picture in it helps nobody.
const longestOther = 1_000

// spoken returns what an item says. What is no text stands there as JSON, if it is short.
func spoken(r *conversation.Request, it *conversation.Item) string {
	var s strings.Builder
	parts, err := r.Parts(it)
	if err == nil && len(parts) == 1 && parts[0].Kind == conversation.TextPart {
		if text, err := conversation.TextIn(r, parts[0].Value); err == nil {
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
// they are free, they are no JSON, or too much to be read. What it returns may share the bytes of the arguments.
func spelledOut(arguments []byte, free bool) string {
	start := span.SkipSpace(arguments, 0)
	if free || !span.Valid(arguments) || arguments[start] != '{' {
		return unsafe.String(unsafe.SliceData(arguments), len(arguments)) // nobody changes them
	}
	var s strings.Builder
	_, err := span.Members(arguments, start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(arguments, i)
		if err != nil {
			return 0, err
		}
		text, gap := arguments[i:end], " "
		if arguments[i] == '"' {
			text = span.TextOf(text)
		}
		if bytes.IndexByte(text, '\n') >= 0 {
			gap = "\n"
		}
		s.Grow(len(key) + len(text) + 3)
		s.Write(key)
		s.WriteString(":" + gap)
		s.Write(bytes.TrimSuffix(text, []byte("\n")))
		s.WriteByte('\n')
		return end, nil
	})
	if err != nil { // odd: as they stand
		return string(arguments)
	}
	return s.String()
}
