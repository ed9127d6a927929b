package tokenize

// longest is the most bytes that are merged at once, as the memory that this takes is kept. Longer pieces, which are one
// character or one script without end, are cut between characters: the count may then be off by a few tokens for each
// cut.
const longest = 2 << 10

// merger is the scratch space for merging. One goroutine uses it at a time.
type merger struct {
	next, last [longest + 1]int // by index of a part's first byte, those of the parts behind it and before it
	lowest     [2 * longest]int64
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
//
// lowest[n+i] is the rank of the part at byte i together with the next one, above i itself. The lower of lowest[2*k] and
// lowest[2*k+1] stands in lowest[k], so the lowest of all in lowest[1], and a change takes log n steps.
func (m *merger) merge(r *ranks, piece []byte) (tokens int) {
	n, next, last, lowest := len(piece), &m.next, &m.last, &m.lowest
	for i := range n - 1 { // every byte is a part
		next[i], last[i+1] = i+1, i
		lowest[n+i] = int64(r.pairs[int(piece[i])<<8|int(piece[i+1])])<<32 | int64(i)
	}
	next[n-1], lowest[2*n-1] = n, noRank<<32
	for k := n - 1; k > 0; k-- {
		lowest[k] = min(lowest[2*k], lowest[2*k+1])
	}
	find := func(start int) {
		rank := int64(noRank)
		if next[start] < n {
			rank = int64(r.of(piece[start:next[next[start]]]))
		}
		k := n + start
		for lowest[k] = rank<<32 | int64(start); k > 1; k /= 2 {
			lowest[k/2] = min(lowest[k], lowest[k^1])
		}
	}
	for tokens = n; lowest[1] < noRank<<32; tokens-- {
		start := int(int32(lowest[1]))
		gone := next[start]
		next[start], last[next[gone]] = next[gone], start
		next[gone] = n
		find(gone)
		find(start)
		if start > 0 {
			find(last[start])
		}
	}
	return tokens
}
