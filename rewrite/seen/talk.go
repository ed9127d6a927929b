package seen

import (
	"hash/maphash"
	"slices"
	"time"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Talk is a conversation up to its last assistant's or tool's item, by its bytes and by the items that they are.
type Talk struct {
	From  int                 // offset of its first byte in the body it was read from
	Items []conversation.Item // in front of them room for the head's
	Head  int                 // how many those are
	Marks []conversation.Mark // in the body that begins with it now
	Asked time.Time           // when it was sent last; zero: nobody knows

	pieces []piece // of its bytes, as it has grown
	start  uint64  // what it is found by at first
	memory int     // bytes that it takes, about
}

// talk makes whatever has a Talk one that can be kept.
func (t *Talk) talk() *Talk { return t }

// Len is how many items are behind the head.
func (t *Talk) Len() int { return len(t.Items) - t.Head }

// GrownFrom says that the conversation goes on from what was known of it: what was hashed is not hashed again.
func (t *Talk) GrownFrom(before *Talk) { t.pieces = before.pieces }

// length is of the conversation's bytes.
func (t *Talk) length() int { return t.pieces[len(t.pieces)-1].end }

const mostPieces = 64 // of one conversation; then they are hashed as one again

// piece is a run of a conversation's bytes that is told by its hash. What has grown is hashed, and nothing twice.
// Between two pieces a mark may stand, in one request and not in the next.
type piece struct {
	end  int // offset in the conversation's bytes without the marks
	sum  uint64
	mark loose // behind it
}

// loose is a mark for the provider's cache that comes and goes.
type loose struct {
	text  string    // empty: there is none
	value span.Span // what it says, in the text
	there bool      // in the body that the conversation was read from
}

// at reports whether the mark stands at the beginning of b.
func (m *loose) at(b []byte) bool {
	return m.text != "" && len(b) >= len(m.text) && string(b[:len(m.text)]) == m.text
}

// opens reports whether b begins with the conversation, whichever of its marks stand there.
func (t *Talk) opens(seed maphash.Seed, b []byte) bool {
	end := 0
	for k := range t.pieces {
		q := &t.pieces[k]
		n := q.end - end
		if n > len(b) || maphash.Bytes(seed, b[:n]) != q.sum {
			return false
		}
		if b, end = b[n:], q.end; q.mark.at(b) {
			b = b[len(q.mark.text):]
		}
	}
	return true
}

// hash cuts the conversation, which has these bytes, into its pieces, of which the first are known.
func (t *Talk) hash(seed maphash.Seed, b []byte) {
	known := t.pieces
	at, end := 0, 0 // in b, and without the marks
	for k := range known {
		if end = known[k].end; known[k].mark.there {
			at += len(known[k].mark.text)
		}
	}
	if at += end; len(known) >= mostPieces || at > len(b) {
		known, at, end = nil, 0, 0
	}
	for _, m := range t.Marks {
		if m.Start < at {
			continue
		}
		end += m.Start - at
		known = append(known, piece{end, maphash.Bytes(seed, b[at:m.Start]), loose{string(m.Of(b)),
			span.Span{Start: m.Value.Start - m.Start, End: m.Value.End - m.Start}, true}})
		at = m.End
	}
	if at < len(b) {
		known = append(known, piece{end: end + len(b) - at, sum: maphash.Bytes(seed, b[at:])})
	}
	t.pieces = known
}

// Enter makes the conversation the beginning of body[i:], which it is but for its marks: its items get the places that
// they have there. It returns where it ends.
func (t *Talk) Enter(body []byte, i int) int {
	was, now, end := t.From, i, 0
	var moved []move
	t.Marks = t.Marks[:0]
	for k := range t.pieces {
		q := &t.pieces[k]
		n := q.end - end
		was, now, end = was+n, now+n, q.end
		size, there := len(q.mark.text), q.mark.at(body[now:])
		switch {
		case q.mark.there && !there:
			moved = append(moved, move{was, -size})
		case there && !q.mark.there:
			moved = append(moved, move{was, size})
		}
		if q.mark.there {
			was += size
		}
		if q.mark.there = there; there {
			v := span.Span{Start: now + q.mark.value.Start, End: now + q.mark.value.End}
			t.Marks = append(t.Marks, conversation.Mark{Span: span.Span{Start: now, End: now + size}, Value: v})
			now += size
		}
	}
	t.moveItems(moved, i-t.From)
	t.From = i
	return now
}

// move is so many bytes that have come or gone at some place.
type move struct{ at, by int }

// moveItems moves the items by so many bytes, and those behind the moves by theirs.
func (t *Talk) moveItems(moved []move, by int) {
	to := func(i int) int {
		place := i
		for _, m := range moved {
			if i > m.at {
				place += m.by
			}
		}
		return place
	}
	items := t.Items[t.Head:]
	for k := len(items) - 1; k >= 0 && len(moved) > 0 && items[k].Place().End > moved[0].at; k-- {
		items[k].Move(to)
	}
	if by == 0 {
		return
	}
	for k := range items {
		items[k].Shift(by)
	}
}

// MarksIn are the marks of a request from one place in its body to another, by their places from there on.
func MarksIn(r *conversation.Request, from, to int) (list []conversation.Mark) {
	for _, m := range r.Marks {
		if from <= m.Start && m.End <= to {
			back := func(s span.Span) span.Span { return span.Span{Start: s.Start - from, End: s.End - from} }
			list = append(list, conversation.Mark{Span: back(m.Span), Value: back(m.Value)})
		}
	}
	return list
}

// AllMarks are the marks of a request, of which some stand in what was known of it and the others were read.
func AllMarks(known, read []conversation.Mark) []conversation.Mark {
	if len(known) == 0 {
		return read
	}
	all := append(slices.Clone(known), read...)
	slices.SortFunc(all, func(a, b conversation.Mark) int { return a.Start - b.Start })
	return slices.Compact(all)
}
