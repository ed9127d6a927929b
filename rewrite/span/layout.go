package span

import (
	"bytes"
	"strings"
)

// Bounds of what is laid out.
const (
	flatValue     = 120 // bytes up to which an object or array stands in one line
	deepestIndent = 24  // levels that are indented
	longText      = 200 // bytes of a string above which its own lines stand one below the other
)

// Layout returns a valid text of JSON for a reader of lines: each value in a line of its own, those that are short with
// what is in them. A long string with line breaks stands under its key, each of its lines behind a bar; so nothing in
// it can pass for a key. All else is as it was written.
func Layout(b []byte) []byte {
	l := layout{body: b, out: make([]byte, 0, len(b)+len(b)/4)}
	return l.all()
}

// all lays out all values.
func (l *layout) all() []byte {
	b := l.body
	for i := SkipSpace(b, 0); i < len(b); i = SkipSpace(b, i) {
		end, err := EndOfValue(b, i)
		if err != nil {
			return append(l.out, b[i:]...)
		}
		l.write(Span{i, end})
		l.out = append(l.out, '\n')
		i = end
	}
	return l.out
}

// layout is a text that is laid out.
type layout struct {
	body, out []byte
}

// write lays out what stands in a value, which may be nested as deep as it likes: nothing of it lies on the stack.
func (l *layout) write(at Span) {
	depth := 0
	for i := at.Start; i < at.End; {
		switch c := l.body[i]; c {
		case ' ', '\n', '\t', '\r':
			i++
		case '{', '[':
			if end := l.endOfFlat(i); end > 0 {
				l.writeFlat(Span{i, end})
				i = end
				continue
			}
			depth++
			l.out = append(l.out, c)
			l.newLine(depth)
			i++
		case '}', ']':
			depth--
			l.newLine(depth)
			l.out = append(l.out, c)
			i++
		case ',':
			l.out = append(l.out, c)
			l.newLine(depth)
			i++
		case ':':
			l.out = append(l.out, ": "...)
			i++
		default:
			i = l.writeLeaf(i, depth)
		}
	}
}

// endOfFlat returns the index behind the object or array that begins at i, if it is short; else 0.
func (l *layout) endOfFlat(i int) int {
	end, err := EndOfValue(l.body[:min(len(l.body), i+flatValue)], i)
	if err != nil || bytes.IndexByte(l.body[i:end], '\n') >= 0 {
		return 0
	}
	return end
}

// writeFlat writes a value in one line.
func (l *layout) writeFlat(at Span) {
	for i := at.Start; i < at.End; {
		switch c := l.body[i]; c {
		case ' ', '\t', '\r':
			i++
		case ',', ':':
			l.out = append(l.out, c, ' ')
			i++
		case '"':
			end, err := EndOfString(l.body, i)
			if err != nil {
				end = at.End
			}
			l.out = append(l.out, l.body[i:end]...)
			i = end
		default:
			l.out = append(l.out, c)
			i++
		}
	}
}

// writeLeaf writes the value that begins at i and holds no others, and returns where it ends.
func (l *layout) writeLeaf(i, depth int) int {
	end, err := EndOfValue(l.body, i)
	if err != nil {
		end = len(l.body)
	}
	value := l.body[i:end]
	if len(value) <= longText || value[0] != '"' || !bytes.Contains(value, []byte(`\n`)) {
		l.out = append(l.out, value...)
		return end
	}
	text := strings.TrimSuffix(string(TextOf(value)), "\n")
	l.out = append(l.out, "text:"...)
	for line := range strings.SplitSeq(text, "\n") {
		l.newLine(depth + 1)
		l.out = append(append(l.out, "| "...), line...)
	}
	return end
}

func (l *layout) newLine(depth int) {
	l.out = append(l.out, '\n')
	for range min(depth, deepestIndent) {
		l.out = append(l.out, ' ')
	}
}
