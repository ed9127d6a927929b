package tokenize

import "bytes"

const (
	wordSlotBits = 14
	wordSlots    = 1 << wordSlotBits
	cacheSlots   = 8 << 10
	cacheBytes   = 27 // of the longest piece kept; makes a slot 32 bytes
)

// wordCache remembers the counts of the words seen last. It is so much smaller than a vocabulary that it stays close
// to the processor.
type wordCache [wordSlots]cachedWord

// cachedWord is a word with its count in the five bits that no word uses.
type cachedWord uint64

// wordBits are the bits of a word that are ever set.
const wordBits = 1<<59 - 1

// find returns the count of a word, 0 if it is not there, and the slot to keep it in.
func (c *wordCache) find(w word) (int, *cachedWord) {
	s := &c[w.hash()>>(64-wordSlotBits)]
	if *s&wordBits == cachedWord(w) {
		return int(*s >> 59), s //nolint:gosec // five bits
	}
	return 0, s
}

func (s *cachedWord) keep(w word, count int) {
	*s = cachedWord(w) | cachedWord(count)<<59 //nolint:gosec // at most seven
}

// pieceCache remembers the counts of the longer pieces seen last: what tools print says the same things again and
// again.
type pieceCache [cacheSlots]cachedPiece

type cachedPiece struct {
	hash  uint16 // further bits of the hash
	size  uint8
	count uint8
	piece [cacheBytes + 1]byte
}

// find returns the count of a piece, 0 if it is not there, and the slot to keep it in.
func (c *pieceCache) find(piece []byte, h uint64) (int, *cachedPiece) {
	s := &c[h%cacheSlots]
	further := uint16(h >> 48) //nolint:gosec // bits
	if s.hash == further && int(s.size) == len(piece) && bytes.Equal(s.piece[:s.size], piece) {
		return int(s.count), s
	}
	return 0, s
}

func (s *cachedPiece) keep(piece []byte, h uint64, count int) {
	s.hash, s.size, s.count = uint16(h>>48), uint8(len(piece)), uint8(count) //nolint:gosec // short pieces
	copy(s.piece[:], piece)
}
