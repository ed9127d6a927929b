package tokenize

// The pieces that are no token themselves are merged as byte-pair encoding says: of all neighbours that together are
// a token, those of the lowest rank become one, the leftmost first, until none are left.

const (
	// short is the length in bytes up to which looking at all parts for the best is quicker than keeping them in order.
	short = 128
	// longest bounds what is merged at once, in bytes. Longer pieces, which are one character or one script without
	// end, are cut at a character: the count may then be off by a few tokens for each cut.
	longest = 8 << 10
)

// merger is the scratch space for merging. One goroutine uses it at a time.
type merger struct {
	near shortParts
	// For long pieces, by the position at which a part begins:
	next, prev []int32
	rank       []int32  // of the part with the one behind it
	heap       []uint64 // rank and position, smallest first; entries that no longer hold are skipped
}

// shortParts are the parts of a short piece, by the position at which each begins.
type shortParts struct {
	text [short + 8]byte // the piece, with room to read eight bytes anywhere in it
	join [short]join     // of the part with the one behind it; unjoinable where no part begins
	// Where the parts behind and before begin.
	next, prev [short + 1]uint8
}

// join holds the rank of two parts together, and in the lowest seven bits where they begin. The least of all joins is
// done next.
type join uint32

const (
	// unjoinable and all values above it are no joins.
	unjoinable join = noRank << 7 & (1<<32 - 1)
	joinAt          = 1<<7 - 1
)

// count returns the number of tokens of a piece of any length that is no token itself.
func (m *merger) count(r *ranks, piece []byte) int {
	switch {
	case len(piece) <= short:
		return m.countShort(r, piece)
	case len(piece) <= longest:
		return m.countLong(r, piece)
	}
	n := 0
	for len(piece) > longest {
		cut := longest
		for cut > longest-4 && piece[cut]&0xc0 == 0x80 {
			cut--
		}
		n += m.countLong(r, piece[:cut])
		piece = piece[cut:]
	}
	return n + m.count(r, piece)
}

// countShort looks at all joins for the best each time.
func (m *merger) countShort(r *ranks, piece []byte) int {
	p := &m.near
	n := p.begin(r, piece)
	for count := n; ; count-- {
		best := unjoinable
		for _, j := range p.join[:n] {
			best = min(best, j)
		}
		if best == unjoinable {
			return count
		}
		p.do(r, int(best&joinAt), n)
	}
}

// begin makes every byte a part and returns how many there are, which are two at least.
func (p *shortParts) begin(r *ranks, piece []byte) int {
	n := copy(p.text[:short], piece)
	for i := range n - 1 {
		p.join[i] = join(r.pairs[int(piece[i])<<8|int(piece[i+1])])<<7 | join(i) //nolint:gosec // not negative
		p.next[i], p.prev[i+1] = uint8(i+1), uint8(i)                            //nolint:gosec // short
	}
	p.next[n-1], p.join[n-1] = uint8(n), unjoinable //nolint:gosec // short
	return n
}

// do joins the part at i with the one behind it, in a piece of n bytes.
func (p *shortParts) do(r *ranks, i, n int) {
	gone := int(p.next[i])
	behind := int(p.next[gone])
	before := int(p.prev[i])
	p.next[i] = uint8(behind) //nolint:gosec // at most short
	p.join[i], p.join[gone] = unjoinable, unjoinable
	if behind < n {
		p.prev[behind] = uint8(i) //nolint:gosec // less than short
		p.join[i] = p.across(r, i, int(p.next[behind]))
	}
	if i > 0 {
		p.join[before] = p.across(r, before, behind)
	}
}

// across returns the join that makes one part of text[i:end].
func (p *shortParts) across(r *ranks, i, end int) join {
	if n := end - i; n <= wordBytes {
		return join(r.ofWord(wordAt(p.text[:], i, n)))<<7 | join(i) //nolint:gosec // not negative
	}
	return join(r.of(p.text[i:end]))<<7 | join(i) //nolint:gosec // not negative
}

// countLong keeps the candidates in a heap.
func (m *merger) countLong(r *ranks, piece []byte) int {
	m.begin(r, piece)
	n := len(piece)
	for len(m.heap) > 0 {
		top := m.pop()
		i, rank := int32(uint32(top)), int32(top>>32) //nolint:gosec // packed by push
		if m.rank[i] != rank {
			continue
		}
		n--
		m.merge(r, piece, i)
	}
	return n
}

// begin makes every byte a part.
func (m *merger) begin(r *ranks, piece []byte) {
	if m.next == nil {
		m.next, m.prev, m.rank = make([]int32, longest+1), make([]int32, longest+1), make([]int32, longest+1)
		m.heap = make([]uint64, 0, 3*longest)
	}
	m.heap = m.heap[:0]
	for i := range piece {
		m.next[i], m.prev[i], m.rank[i] = int32(i+1), int32(i-1), noRank //nolint:gosec // at most longest
		if i+1 < len(piece) {
			m.push(int32(i), r.pairs[int(piece[i])<<8|int(piece[i+1])]) //nolint:gosec // at most longest
		}
	}
}

// merge joins the part at i with the one behind it.
func (m *merger) merge(r *ranks, piece []byte, i int32) {
	gone := m.next[i]
	behind := m.next[gone]
	m.rank[gone] = noRank
	m.next[i] = behind
	end := int32(len(piece)) //nolint:gosec // at most longest
	if behind < end {
		m.prev[behind] = i
		m.push(i, r.of(piece[i:m.next[behind]]))
	} else {
		m.rank[i] = noRank
	}
	if p := m.prev[i]; p >= 0 {
		m.push(p, r.of(piece[p:behind]))
	}
}

// push records the rank at i, and makes it a candidate if it is one.
func (m *merger) push(i, rank int32) {
	m.rank[i] = rank
	if rank == noRank {
		return
	}
	h := append(m.heap, uint64(rank)<<32|uint64(uint32(i))) //nolint:gosec // neither is negative
	k := len(h) - 1
	for k > 0 && h[(k-1)/2] > h[k] {
		h[(k-1)/2], h[k] = h[k], h[(k-1)/2]
		k = (k - 1) / 2
	}
	m.heap = h
}

// pop takes the lowest rank, the leftmost of them first.
func (m *merger) pop() uint64 {
	h := m.heap
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for k := 0; ; {
		child := 2*k + 1
		if child >= last {
			break
		}
		if child+1 < last && h[child+1] < h[child] {
			child++
		}
		if h[k] <= h[child] {
			break
		}
		h[k], h[child] = h[child], h[k]
		k = child
	}
	m.heap = h
	return top
}
