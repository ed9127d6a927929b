package tokenize

// Pieces that are no token themselves are merged as byte-pair encoding says: of all neighbours that together are a
// token, those of the lowest rank become one, the leftmost first, until none are left.

const (
	// longest is the most bytes that are merged at once. Longer pieces, which are one character or one script without
	// end, are cut between characters: the count may then be off by a few tokens for each cut.
	longest = 1 << positionBits
	// blockSize is how many positions share one entry of merger.best.
	blockSize    = 128
	positionBits = 13
)

// join holds the rank of two parts together, and in the lowest positionBits where they begin. The least of all joins is
// done next. unjoinable and all values above it are no joins.
type join uint32

const unjoinable join = noRank << positionBits & (1<<32 - 1)

// merger is the scratch space for merging. One goroutine uses it at a time. It has the parts of a piece by the position
// at which each begins.
type merger struct {
	join       [longest]join             // of the part with the one behind it; unjoinable where no part begins
	best       [longest / blockSize]join // the least join of each block: a long piece is not searched whole
	next, prev [longest + 1]uint16       // where the parts behind and before begin
}

// count returns the number of tokens of a piece that is no token itself.
func (m *merger) count(r *ranks, piece []byte) (tokens int) {
	for len(piece) > longest {
		cut := longest
		for cut > longest-4 && piece[cut]&0xc0 == 0x80 { // within a character
			cut--
		}
		tokens += m.merge(r, piece[:cut])
		piece = piece[cut:]
	}
	return tokens + m.merge(r, piece)
}

// merge returns the number of tokens of a piece of at most longest bytes.
func (m *merger) merge(r *ranks, piece []byte) (tokens int) {
	n := len(piece)
	for i := range n - 1 { // every byte is a part
		m.join[i] = join(r.pairs[int(piece[i])<<8|int(piece[i+1])])<<positionBits | join(i) //nolint:gosec // not negative
		m.next[i], m.prev[i+1] = uint16(i+1), uint16(i)                                     //nolint:gosec // at most longest
	}
	m.next[n-1], m.join[n-1] = uint16(n), unjoinable //nolint:gosec // at most longest
	blocks := (n + blockSize - 1) / blockSize
	m.findBest(0, blocks, n)
	for tokens = n; ; tokens-- {
		best := unjoinable
		for _, j := range m.best[:blocks] {
			best = min(best, j)
		}
		if best == unjoinable {
			return tokens
		}
		m.do(r, piece, int(best&(longest-1)))
	}
}

// findBest finds the least join of each block from first up to end, in a piece of n bytes.
func (m *merger) findBest(first, end, n int) {
	for b := first; b < end; b++ {
		best := unjoinable
		for _, j := range m.join[b*blockSize : min((b+1)*blockSize, n)] {
			best = min(best, j)
		}
		m.best[b] = best
	}
}

// do joins the part of a piece at i with the one behind it.
func (m *merger) do(r *ranks, piece []byte, i int) {
	n := len(piece)
	gone := int(m.next[i])
	behind, before := int(m.next[gone]), i
	m.next[i] = uint16(behind) //nolint:gosec // at most longest
	m.join[i], m.join[gone] = unjoinable, unjoinable
	if behind < n {
		m.prev[behind] = uint16(i) //nolint:gosec // less than longest
		m.join[i] = joinOf(r, piece, i, int(m.next[behind]))
	}
	if i > 0 {
		before = int(m.prev[i])
		m.join[before] = joinOf(r, piece, before, behind)
	}
	m.findBest(before/blockSize, gone/blockSize+1, n)
}

// joinOf returns the join that makes one part of piece[i:end].
func joinOf(r *ranks, piece []byte, i, end int) join {
	return join(r.of(piece[i:end]))<<positionBits | join(i) //nolint:gosec // not negative
}
