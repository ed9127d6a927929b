package tokenize

import "slices"

// longest is the most bytes that are merged at once, as merging takes quadratic time. Longer pieces, which are one
// character or one script without end, are cut between characters: the count may then be off by a few tokens for each
// cut.
const longest = 2 << 10

// merger is the scratch space for merging. One goroutine uses it at a time.
type merger struct{ parts []part }

// part is a part of a piece, up to the next one.
type part struct {
	start int32 // in the piece
	rank  int32 // of the part together with the next one; noRank if they are no token
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

// merge returns the number of tokens of a piece of at most longest bytes. As byte-pair encoding says, of all neighbours
// that together are a token, those of the lowest rank become one, the leftmost first, until none are left.
func (m *merger) merge(r *ranks, piece []byte) (tokens int) {
	parts := m.parts[:0]
	for i := range len(piece) - 1 { // every byte is a part
		parts = append(parts, part{int32(i), r.pairs[int(piece[i])<<8|int(piece[i+1])]})
	}
	parts = append(parts, part{int32(len(piece) - 1), noRank}, part{int32(len(piece)), noRank})
	m.parts = parts
	rank := func(i int) int32 {
		if i+2 >= len(parts) {
			return noRank
		}
		return r.of(piece[parts[i].start:parts[i+2].start])
	}
	for {
		best := 0
		for i, p := range parts {
			if p.rank < parts[best].rank {
				best = i
			}
		}
		if parts[best].rank == noRank {
			return len(parts) - 1
		}
		parts = slices.Delete(parts, best+1, best+2)
		parts[best].rank = rank(best)
		if best > 0 {
			parts[best-1].rank = rank(best - 1)
		}
	}
}
