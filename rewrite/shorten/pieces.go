package shorten

import (
	"bytes"
	"strings"

	"epitome/rewrite/span"
)

// Of JSON in one line so many bytes are taken apart, and so many levels: what is nested is read again on each of them.
const mostSplit, deepestSplit = 256 << 10, 16

// Pieces are the lines of a text. A line of JSON of more than longest bytes gives its parts that are shorter, as they
// stand there: objects, and members or other elements side by side.
func Pieces(text string, longest int) (list []string) {
	for _, l := range strings.Split(text, "\n") {
		if len(l) <= longest || len(l) > mostSplit {
			list = append(list, l)
			continue
		}
		body := []byte(l)
		if !beginsJSON(body, `{[`) || !span.Valid(body) {
			list = append(list, l)
			continue
		}
		s := &splitter{body: body, longest: longest}
		s.value(span.SkipSpace(body, 0))
		list = append(list, s.list...)
	}
	return list
}

// splitter takes valid JSON apart.
type splitter struct {
	body    []byte
	longest int // bytes of what it gives
	depth   int // of the value that is taken apart
	list    []string
	beside  span.Span // members or elements side by side that are not given yet; empty if there are none
}

// value takes apart the object or list that begins at byte i.
func (s *splitter) value(i int) {
	s.depth++
	if s.body[i] == '{' {
		_, _ = span.Entries(s.body, i, func(key []byte, at int) (int, error) {
			quoted := append(append([]byte{'"'}, key...), '"')
			return s.part(max(0, bytes.LastIndex(s.body[:at], quoted)), at)
		})
	} else {
		_, _ = span.Elements(s.body, i, func(at int) (int, error) { return s.part(at, at) })
	}
	s.flush()
	s.depth--
}

// part takes in a member or element from byte start on, whose value begins at byte at. An object in a list is a piece
// of its own.
func (s *splitter) part(start, at int) (int, error) {
	end, err := span.EndOfValue(s.body, at)
	if err != nil {
		return end, err
	}
	switch {
	case end-start > s.longest:
		if s.flush(); s.depth < deepestSplit && beginsJSON(s.body[at:end], `{[`) {
			s.value(at)
		}
	case start == at && s.body[at] == '{':
		s.flush()
		s.list = append(s.list, string(s.body[start:end]))
	case s.beside.Empty() || end-s.beside.Start > s.longest:
		s.flush()
		s.beside = span.Span{Start: start, End: end}
	default:
		s.beside.End = end
	}
	return end, nil
}

// flush gives what stands side by side.
func (s *splitter) flush() {
	if !s.beside.Empty() {
		s.list = append(s.list, string(s.beside.Of(s.body)))
	}
	s.beside = span.Span{}
}
