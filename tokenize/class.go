package tokenize

import (
	"unicode"
	"unicode/utf8"
)

// class says in which sets of the published patterns a character is. It may be in more than one.
type class uint8

const (
	upper  class = 1 << iota // may stand in the first part of a word: Lu, Lt, Lm, Lo, M
	lower                    // may stand in the second part: Ll, Lm, Lo, M
	letter                   // any L
	number                   // any N
	space                    // White_Space
	line                     // CR or LF; these are space too
	wide                     // of a byte only: it is part of a longer character
)

// prefix reports whether the character may stand in front of a word: anything but CR, LF, letters and numbers.
func (c class) prefix() bool { return c&(line|letter|number) == 0 }

// symbol reports whether the character is of a run of punctuation: neither space, letter nor number.
func (c class) symbol() bool { return c&(space|letter|number) == 0 }

// classes holds the class of every character.
type classes struct {
	ascii [256]class // by byte, wide from 128 on
	all   [unicode.MaxRune + 1]class
}

// newClasses reads package unicode's tables. Characters that are newer than those count as symbols.
func newClasses() *classes {
	cs := &classes{}
	for _, set := range []struct {
		table *unicode.RangeTable
		class class
	}{
		{unicode.Lu, upper | letter}, {unicode.Lt, upper | letter}, {unicode.Ll, lower | letter},
		{unicode.Lm, upper | lower | letter}, {unicode.Lo, upper | lower | letter},
		{unicode.M, upper | lower}, {unicode.N, number}, {unicode.White_Space, space},
	} {
		each(set.table, func(r rune) { cs.all[r] |= set.class })
	}
	cs.all['\r'] |= line
	cs.all['\n'] |= line
	copy(cs.ascii[:utf8.RuneSelf], cs.all[:])
	for i := utf8.RuneSelf; i < len(cs.ascii); i++ {
		cs.ascii[i] = wide
	}
	return cs
}

// each calls f with every character of a table.
func each(t *unicode.RangeTable, f func(rune)) {
	for _, r := range t.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			f(c)
		}
	}
	for _, r := range t.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) { //nolint:gosec // tables end at MaxRune
			f(c)
		}
	}
}

// at returns the class of the character at b[i] and its length. A byte that is no UTF-8 counts as a symbol of one byte.
func (cs *classes) at(b []byte, i int) (class, int) {
	if c := cs.ascii[b[i]]; c != wide {
		return c, 1
	}
	return cs.wideAt(b, i)
}

// wideAt does what at does, for a character of more than one byte.
func (cs *classes) wideAt(b []byte, i int) (class, int) {
	r, n := utf8.DecodeRune(b[i:])
	if r == utf8.RuneError {
		return 0, n
	}
	return cs.all[r], n
}
