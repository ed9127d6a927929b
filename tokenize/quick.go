package tokenize

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones = 0x0101010101010101 // times a byte: that byte eight times
	tops = 0x80 * ones        // the top bits of eight bytes
)

// within returns the top bit of each byte of x that lies from low to high. All bytes are ASCII.
func within(x uint64, low, high byte) uint64 {
	return (x + uint64(0x80-low)*ones) &^ (x + uint64(0x7f-high)*ones) & tops
}

// noWord says that no word begins somewhere.
const noWord = -1

// nextWord does what next does for the commonest piece, an ASCII word with or without a prefix, eight bytes at a time:
// a loop over letters would end where the processor does not expect it. It returns noWord if no word begins at i, and i
// if that takes a closer look.
func (s *splitter) nextWord(b []byte, i int) int {
	start := i
	switch c := s.ascii[b[i]]; {
	case c&letter != 0:
	case c&(number|line) != 0:
		return noWord
	case c == wide || b[i] == '\'' && !s.cased: // the latter may be a contraction
		return i
	default:
		start++
	}
	if start+8 > len(b) {
		return i
	}
	x := binary.LittleEndian.Uint64(b[start:])
	if x&tops != 0 {
		return i
	}
	small, capital := within(x, 'a', 'z'), within(x, 'A', 'Z')
	others := ^(small | capital) & tops
	if s.cased { // capitals end where small letters have begun
		begun := bits.TrailingZeros64(^capital&tops) &^ 7
		others = ^small & tops &^ (1<<begun - 1)
	}
	if others == 0 {
		return s.quickLong(b, i, start)
	}
	end := start + bits.TrailingZeros64(others)/8
	switch {
	case end == start:
		return noWord
	case s.cased && b[end] == '\'':
		return contraction(b, end)
	}
	return end
}

// quickLong does what nextWord does, for a word that begins at start and does not end within eight bytes.
func (s *splitter) quickLong(b []byte, i, start int) int {
	if !s.cased {
		return s.run(b, start+8, letter)
	}
	if s.ascii[b[start+7]]&lower == 0 { // capitals only, so far
		return i
	}
	return contraction(b, s.run(b, start+8, lower))
}
