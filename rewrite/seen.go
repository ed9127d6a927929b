package rewrite

import (
	"container/list"
	"hash/maphash"
	"slices"
	"sync"
	"time"
	"unsafe"

	"epitome/rewrite/addition"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/span"
)

// seen remembers conversations that were read, so that what comes again is recognised by one hash of its bytes and not
// read again. A conversation is taken out while a request that extends it is shaped, so nothing is shared. It is
// bounded: what was used least recently is forgotten.
type seen struct {
	seed maphash.Seed
	keep time.Duration // from when on nobody asks for a conversation any more; 0: never

	mu     sync.Mutex
	starts map[uint64][]*list.Element // of *past, by scope and first bytes
	recent *list.List                 // of *past, the newest first
	bytes  int
}

// past is a conversation up to its last assistant's or tool's item.
type past struct {
	slot
	from     int                 // offset of its first byte in the body it was read from
	pieces   []piece             // of its bytes, as it has grown
	marks    []conversation.Mark // in the body that begins with it now
	items    []conversation.Item // in front of them room for the head's
	head     int                 // how many those are
	hist     *history.History
	route    decision.Route
	name     decision.Ref       // of the conversation
	decision *decision.Decision // by which it was sent
	spelled  decision.Spelled   // texts of its forms
	fixed    fixed              // what stood before it
	added    *addition.Record   // what epitome has put there; nil if nothing
	ahead    preparation
	asked    time.Time // when it was sent last; zero: nobody knows
}

// slot is where it is kept.
type slot struct {
	start uint64 // what it is found by at first
	bytes int    // of memory, about
}

// preparation is how a summary was last made ahead of need: how many tokens the request had, and where in items the
// summary ends.
type preparation struct{ tokens, cut int }

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

// len is how many items are behind the head.
func (p *past) len() int { return len(p.items) - p.head }

// length is of the conversation's bytes.
func (p *past) length() int { return p.pieces[len(p.pieces)-1].end }

const (
	mostPieces = 64       // of one conversation; then they are hashed as one again
	mostSeen   = 64 << 20 // bytes of memory for all conversations
	startLen   = 1 << 10  // bytes by which conversations are told apart at first
	mostAlike  = 4        // conversations that begin alike and are looked at
)

func newSeen(keep time.Duration) *seen {
	return &seen{keep: keep, seed: maphash.MakeSeed(), starts: map[uint64][]*list.Element{}, recent: list.New()}
}

// sum is a hash of b that is good for this process alone.
func (s *seen) sum(b []byte) uint64 { return maphash.Bytes(s.seed, b) }

// sharers names those who may share what is remembered: one scope, in one dialect.
func (in Input) sharers() string { return in.Dialect.Key() + "\x00" + in.Scope }

func (s *seen) startOf(scope string, b []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.WriteString(scope)
	_ = h.WriteByte(0)
	_, _ = h.Write(b[:min(len(b), startLen)])
	return h.Sum64()
}

// take finds the longest conversation that b begins with, and gives it away.
func (s *seen) take(scope string, b []byte) *past {
	start := s.startOf(scope, b)
	s.mu.Lock()
	alike := append([]*list.Element(nil), s.starts[start]...)
	s.mu.Unlock()
	var best *list.Element
	for _, e := range alike {
		p := e.Value.(*past) //nolint:forcetypeassert // only pasts are put there
		//nolint:forcetypeassert // likewise
		if best != nil && best.Value.(*past).length() > p.length() {
			continue
		}
		if s.begins(b, p) {
			best = e
		}
	}
	if best == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removeLocked(best)
}

// begins reports whether b begins with the conversation, whichever of its marks stand there.
func (s *seen) begins(b []byte, p *past) bool {
	end := 0
	for k := range p.pieces {
		q := &p.pieces[k]
		n := q.end - end
		if n > len(b) || maphash.Bytes(s.seed, b[:n]) != q.sum {
			return false
		}
		if b, end = b[n:], q.end; q.mark.at(b) {
			b = b[len(q.mark.text):]
		}
	}
	return true
}

// hashed is the pieces of a conversation with these bytes, of which the first are known. The marks are those in b.
func (s *seen) hashed(known []piece, b []byte, marks []conversation.Mark) []piece {
	at, end := 0, 0 // in b, and without the marks
	for k := range known {
		if end = known[k].end; known[k].mark.there {
			at += len(known[k].mark.text)
		}
	}
	if at += end; len(known) >= mostPieces || at > len(b) {
		known, at, end = nil, 0, 0
	}
	for _, m := range marks {
		if m.Start < at {
			continue
		}
		end += m.Start - at
		known = append(known, piece{end, maphash.Bytes(s.seed, b[at:m.Start]), loose{string(m.Of(b)),
			span.Span{Start: m.Value.Start - m.Start, End: m.Value.End - m.Start}, true}})
		at = m.End
	}
	if at < len(b) {
		known = append(known, piece{end: end + len(b) - at, sum: maphash.Bytes(s.seed, b[at:])})
	}
	return known
}

// enter makes the conversation the beginning of body[i:], which it is but for its marks: its items get the places that
// they have there. It returns where it ends.
func (p *past) enter(body []byte, i int) int {
	was, now, end := p.from, i, 0
	var moved []move
	p.marks = p.marks[:0]
	for k := range p.pieces {
		q := &p.pieces[k]
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
			p.marks = append(p.marks, conversation.Mark{Span: span.Span{Start: now, End: now + size}, Value: v})
			now += size
		}
	}
	p.moveItems(moved, i-p.from)
	p.from = i
	return now
}

// move is so many bytes that have come or gone at some place.
type move struct{ at, by int }

// moveItems moves the items by so many bytes, and those behind the moves by theirs.
func (p *past) moveItems(moved []move, by int) {
	to := func(i int) int {
		place := i
		for _, m := range moved {
			if i > m.at {
				place += m.by
			}
		}
		return place
	}
	items := p.items[p.head:]
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

// removeLocked takes a conversation out; nil if somebody else has.
func (s *seen) removeLocked(e *list.Element) *past {
	p := e.Value.(*past) //nolint:forcetypeassert // only pasts are put there
	alike := s.starts[p.start]
	for i, other := range alike {
		if other != e {
			continue
		}
		if alike = append(alike[:i:i], alike[i+1:]...); len(alike) == 0 {
			delete(s.starts, p.start)
		} else {
			s.starts[p.start] = alike
		}
		s.recent.Remove(e)
		s.bytes -= p.bytes
		return p
	}
	return nil
}

// put remembers a conversation that nobody else uses any more.
func (s *seen) put(scope string, p *past, b []byte) {
	if len(b) < startLen { // quickly read again
		return
	}
	p.start, p.pieces = s.startOf(scope, b), s.hashed(p.pieces, b, p.marks)
	p.bytes = p.hist.Memory() + p.decision.Memory() + p.spelled.Memory() +
		len(p.items)*int(unsafe.Sizeof(conversation.Item{})+unsafe.Sizeof(conversation.Call{})+64)
	if p.added != nil {
		p.bytes += len(p.added.Index) + len(p.added.Memory)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.recent.PushFront(p)
	s.starts[p.start] = append(s.starts[p.start], e)
	s.bytes += p.bytes
	if alike := s.starts[p.start]; len(alike) > mostAlike {
		s.removeLocked(alike[0])
	}
	for oldest := s.recent.Back(); oldest != nil; oldest = s.recent.Back() {
		//nolint:forcetypeassert // only pasts are put there
		if s.bytes <= mostSeen && (s.keep == 0 || p.asked.Sub(oldest.Value.(*past).asked) <= s.keep) {
			return
		}
		s.removeLocked(oldest)
	}
}

// recall is what the reader asks for what it need not read.
func (x *run) recall(body []byte, i int, head []conversation.Item) (items []conversation.Item, end int) {
	p := x.shaper.seen.take(x.in.sharers(), body[i:])
	if p == nil {
		return nil, 0
	}
	end = p.enter(body, i)
	x.past = p
	if items = p.items; p.head == len(head) { // as almost always: there may be thousands
		copy(items, head)
	} else {
		items = append(head, items[p.head:]...)
	}
	return items, end
}

// marksIn are the marks of a request from one place in its body to another, by their places from there on.
func marksIn(r *conversation.Request, from, to int) (list []conversation.Mark) {
	for _, m := range r.Marks {
		if from <= m.Start && m.End <= to {
			back := func(s span.Span) span.Span { return span.Span{Start: s.Start - from, End: s.End - from} }
			list = append(list, conversation.Mark{Span: back(m.Span), Value: back(m.Value)})
		}
	}
	return list
}

// allMarks are the marks of the request, of which some stand in what was known of it.
func allMarks(known *past, read []conversation.Mark) []conversation.Mark {
	if known == nil || len(known.marks) == 0 {
		return read
	}
	all := append(slices.Clone(known.marks), read...)
	slices.SortFunc(all, func(a, b conversation.Mark) int { return a.Start - b.Start })
	return slices.Compact(all)
}

// history is what is known of the conversation; nothing if it is new.
func (p *past) history() *history.History {
	if p == nil {
		return history.NewHistory()
	}
	return p.hist
}

// texts are the texts of the forms by which it was sent; none if it is new.
func (p *past) texts() decision.Spelled {
	if p == nil {
		return decision.Spelled{}
	}
	return p.spelled
}

// decisionOn is the decision by which the known part was sent, if it was on this route and stands still: somebody may
// have had the conversation compacted since.
func (p *past) decisionOn(g decision.Ledger, route decision.Route, chain []conversation.Link) *decision.Decision {
	if p == nil || p.route != route {
		return nil
	}
	d := p.decision
	value, version, found := g.Get(decision.DecisionKey(route.ID(), chain[d.Depth()]))
	if !found {
		return d
	}
	if string(value) != string(d.RecordIn(g)) {
		return nil
	}
	d.Version = version
	return d
}

// cacheExpired reports whether the provider has forgotten what was sent of the conversation: after a long pause, or as
// it went to another model.
func cacheExpired(x *run) bool {
	if base := x.plan.Base; base.Version == 0 && base.Depth() > 0 {
		return true
	}
	life := x.in.Limits.CacheLife.D()
	if x.turn != nil {
		return life > 0 && !x.in.Now.IsZero() && pausedElsewhere(x, life)
	}
	if x.past == nil || life == 0 || x.in.Now.IsZero() || x.past.asked.IsZero() {
		return false
	}
	return x.in.Now.Round(0).Sub(x.past.asked) > life // by the clock on the wall, which goes on while a machine sleeps
}

// learn remembers the conversation for the next request.
func (x *run) learn() {
	n, p := x.plan.End, x.plan
	if n == 0 || !x.req.Upkeep.Before.Empty() || x.log.adopted || x.log.stable == nil && hasForms(p.Forms[n:]) {
		return
	}
	if conversation.Dead(x.req) >= n { // what makes them dead stands behind, and may be gone in the next request
		return
	}
	head := x.req.Head
	items := x.req.Items[:head+n]
	x.hist.Truncate(x.req, n)
	from, end := items[head].Place().Start, conversation.Extent(x.req, head+n-1)
	last := x.log.recorded
	d := &decision.Decision{Forms: p.Forms[:n:n], Lists: last.Lists, Version: last.Version, Outcomes: last.Outcomes}
	if x.log.stable != nil {
		d.Lists = x.log.stable.Lists
	}
	known := &past{
		from: from, items: items, head: head, hist: x.hist, route: p.Route, decision: d, name: x.name, asked: x.in.Now,
		marks: marksIn(x.req, from, end), fixed: x.fixed, ahead: preparation{p.Ask.Prepared, p.Ask.PreparedCut},
		spelled: x.spelled.Of(d), added: x.out.added.record,
	}
	if x.past != nil {
		known.pieces = x.past.pieces
	}
	x.shaper.seen.put(x.in.sharers(), known, x.in.Body[from:end])
}
