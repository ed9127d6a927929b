package tokenize

import (
	"bytes"
	"sync"
	"unicode"
	"unicode/utf8"
)

// class says in which sets of the published pattern a character is. It may be in more than one.
type class uint8

const (
	upper  class = 1 << iota // may stand in the first part of a word: Lu, Lt, Lm, Lo, M
	lower                    // may stand in the second part: Ll, Lm, Lo, M
	letter                   // any L
	number                   // any N
	space                    // White_Space
	line                     // CR or LF; these are space too
	symbol                   // neither space, letter nor number; marks (M) are symbols too
)

// classes has the class of every character.
type classes [unicode.MaxRune + 1]class

// knownClasses returns the classes by package unicode. Characters that are newer than its tables count as symbols.
var knownClasses = sync.OnceValue(func() *classes {
	cs := &classes{'\r': line, '\n': line}
	for _, set := range []struct {
		table *unicode.RangeTable
		class class
	}{
		{unicode.Lu, upper | letter}, {unicode.Lt, upper | letter}, {unicode.Ll, lower | letter},
		{unicode.Lm, upper | lower | letter}, {unicode.Lo, upper | lower | letter},
		{unicode.M, upper | lower}, {unicode.N, number}, {unicode.White_Space, space},
	} {
		cs.add(set.table, set.class)
	}
	for r, c := range cs {
		if c&(space|letter|number) == 0 {
			cs[r] |= symbol
		}
	}
	return cs
})

// add puts the characters of a table into a class.
func (cs *classes) add(table *unicode.RangeTable, of class) {
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			cs[c] |= of
		}
	}
	for _, r := range table.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			cs[c] |= of
		}
	}
}

// at returns the class of the character at b[i] and its length. A byte that is no UTF-8 counts as a symbol of one byte.
func (cs *classes) at(b []byte, i int) (class, int) {
	if c := b[i]; c < utf8.RuneSelf {
		return cs[c], 1
	}
	r, n := utf8.DecodeRune(b[i:])
	return cs[r], n
}

// run returns the end of the run of characters of a class, from i on.
func (cs *classes) run(b []byte, i int, of class) int {
	for i < len(b) {
		c, n := cs.at(b, i)
		if c&of == 0 {
			break
		}
		i += n
	}
	return i
}

// next returns the end of the piece that begins at b[i]; i < len(b). It cuts text exactly as the published pattern of
// o200k_base does, and looks at no character more than a fixed number of times:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func (cs *classes) next(b []byte, i int) int {
	c, n := cs.at(b, i)
	switch {
	case c&letter != 0:
		_, end := cs.word(b, i)
		return contraction(b, end)
	case c&number != 0:
		return cs.digits(b, i)
	case c&line == 0: // it may stand before a word
		byFirst, end := cs.word(b, i+n)
		if !byFirst && c&lower != 0 { // c is a mark, as letters are done: with it the first alternative matches
			byFirst, end = cs.word(b, i)
		}
		if byFirst || end > i+n {
			return contraction(b, end)
		}
	}
	start := i // of symbols
	if b[i] == ' ' {
		start++
	}
	end := cs.run(b, start, symbol)
	if end > start {
		for end < len(b) && (b[end] == '\r' || b[end] == '\n' || b[end] == '/') {
			end++
		}
		return end
	}
	return cs.blanks(b, i)
}

// word matches one of the first two alternatives at i, without what stands before the word and without the contraction:
// capitals followed by small letters, where letters without case and marks are both. byFirst says that it is the first
// alternative, which ends with a small letter.
func (cs *classes) word(b []byte, i int) (byFirst bool, end int) {
	capitals := cs.run(b, i, upper)
	end = cs.run(b, capitals, lower)
	if end > capitals {
		return true, end
	}
	for end > i { // back to the last character that counts as a small letter
		r, n := utf8.DecodeLastRune(b[i:end])
		if cs[r]&lower != 0 {
			return true, end
		}
		end -= n
	}
	return false, capitals
}

var contractions = [][]byte{
	[]byte("'s"), []byte("'t"), []byte("'re"), []byte("'ve"), []byte("'m"), []byte("'ll"), []byte("'d"),
	[]byte("'ſ"), // the long s is an s in another case
}

// contraction returns the end of the contraction at i, in any case; i if there is none.
func contraction(b []byte, i int) int {
	if i == len(b) || b[i] != '\'' {
		return i
	}
	for _, c := range contractions {
		end := i + len(c)
		if end <= len(b) && bytes.EqualFold(b[i:end], c) {
			return end
		}
	}
	return i
}

// digits returns the end of a piece of up to three numbers.
func (cs *classes) digits(b []byte, i int) int {
	for count := 0; count < 3 && i < len(b); count++ {
		c, n := cs.at(b, i)
		if c&number == 0 {
			break
		}
		i += n
	}
	return i
}

// blanks matches a run of white space: through its last line end if it has one, as \s*[\r\n]+ does; else whole at the
// end of the text; else without its last character, as \s+(?!\S) does, unless it has only that one, for \s+.
func (cs *classes) blanks(b []byte, i int) int {
	end := cs.run(b, i, space)
	at := bytes.LastIndexAny(b[i:end], "\r\n")
	if at >= 0 {
		return i + at + 1
	}
	_, n := utf8.DecodeLastRune(b[i:end])
	if end < len(b) && end-n > i {
		return end - n
	}
	return end
}
