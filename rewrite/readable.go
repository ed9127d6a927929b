package rewrite

import (
	"fmt"
	"strings"
)

// transcript is the text for a reader of lines of what the segment of a compaction that item i begins holds.
func (f *form) transcript(r *Request, i int) []byte {
	n, name := f.Fold, f.Kept
	if f.Told != "" {
		n, name = f.Over, f.Told
	}
	return r.readable(i, n, name)
}

// block is a message or call in a transcript.
type block struct{ heading, text string }

// readable is n items behind the head, from item i on, as text: each under a heading, with its own ends of lines. name is that of the
// artifact with the same as JSON. A part of it stands in each heading and in no text, so that nothing that was said can pass for one.
// Only the messages and the name count, so that it can be made again.
func (r *Request) readable(i, n int, name string) []byte {
	h := &history{calls: map[string][]origin{}}
	for k := i - 1; k >= 0; k-- { // a user may have spoken between call and result
		if it := &r.Items[r.Head+k]; it.Role == Assistant {
			h.callsOf(r, it)
			break
		}
	}
	var list []block
	for k := i; k < i+n; k++ {
		list = r.blocks(list, h, r.Head+k)
	}
	id := partUnlike(name, list)
	var b strings.Builder
	fmt.Fprintf(&b, "[%s: messages %d-%d of a conversation as text; as JSON, to the byte, they are in %s.txt beside this file]\n\n",
		id, r.Head+i, r.Head+i+n-1, name)
	for _, o := range list {
		fmt.Fprintf(&b, "[%s: %s]\n%s", id, o.heading, o.text)
		if o.text != "" && !strings.HasSuffix(o.text, "\n") {
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// blocks appends what item i of all says, and what it calls.
func (r *Request) blocks(list []block, h *history, i int) []block {
	it := &r.Items[i]
	heading := fmt.Sprintf("message %d: %s", i, it.Role)
	switch it.Role {
	case Assistant:
		h.callsOf(r, it)
	case Tool:
		o := h.called(it.Answers)
		if o.name == "" {
			o.name = it.Name
		}
		raw := it.Content.Of(r.Body)
		heading = fmt.Sprintf("message %d: tool result of %s", i, oneLine(o.about(), longestPath))
		if s := inWords(o.state(raw)); s != "" {
			heading += ", " + s
		}
	}
	list = append(list, block{heading, r.spoken(it)})
	for _, c := range it.Calls {
		list = append(list, block{"call of " + oneLine(c.Name, longestPath), spelledOut(said(c.Arguments.Of(r.Body)), c.FreeText)})
	}
	return list
}

// longestOther is the size in bytes up to which what is no text stands in a transcript: a picture in it helps nobody.
const longestOther = 1_000

// spoken is what an item says. What is no text stands there as JSON, if it is short.
func (r *Request) spoken(it *Item) string {
	var s strings.Builder
	parts, err := r.Parts(it)
	for _, p := range parts {
		if s.Len() > 0 && !strings.HasSuffix(s.String(), "\n") {
			s.WriteByte('\n')
		}
		switch raw := p.Value.Of(r.Body); {
		case p.Kind == TextPart:
			s.Write(said(raw))
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

// spelledOut is what the arguments of a call say: each under its key, texts as they are, and all else as JSON.
func spelledOut(arguments []byte, free bool) string {
	start := space(arguments, 0)
	if free || !valid(arguments) || arguments[start] != '{' {
		return string(arguments)
	}
	var s strings.Builder
	_, err := members(arguments, start, func(key []byte, i int) (int, error) {
		end, err := value(arguments, i)
		if err != nil {
			return 0, err
		}
		text, gap := string(arguments[i:end]), " "
		if arguments[i] == '"' {
			text = string(said(arguments[i:end]))
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

// partUnlike is a part of an artifact's name, which whoever wrote its content could not know, that stands in none of the blocks.
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
