// Package pattern compiles a regular expression when it is first used. Hundreds of them stand in tables, and most
// processes need a few. Compiled when the process starts, they would delay it by milliseconds.
//
// It promises what regexp promises. An expression that cannot be compiled panics at its first use. A package variable
// that Of, Beginning or Holding makes of constants costs nothing when the process starts: the compiler lays it
// out. That holds while each of them is one return of a literal.
package pattern

import (
	"regexp"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Pattern is one regular expression. Goroutines may share it.
type Pattern struct {
	expr     string
	begins   []string // small letters of ASCII, or signs, with one of which each text with a match begins
	holds    []string // likewise, of which one stands in each
	compiled atomic.Pointer[regexp.Regexp]
	first    atomic.Pointer[[256]bool] // with which those of holds begin
}

// Of returns the pattern of an expression of package regexp.
func Of(expr string) *Pattern { return &Pattern{expr: expr} }

// Beginning is the pattern of an expression of which each text with a match begins with one of the words, or with no
// sign of ASCII. Small letters stand for large ones too. Tens of thousands of texts without one are told apart without
// a look at the expression.
func Beginning(expr string, words ...string) *Pattern { return &Pattern{expr: expr, begins: words} }

// Holding is the pattern of an expression of which one of the words stands in each text with a match. Small letters
// stand for large ones too.
func Holding(expr string, words ...string) *Pattern { return &Pattern{expr: expr, holds: words} }

// may reports whether s may have a match.
func (p *Pattern) may(s string) bool {
	if len(p.begins) > 0 && (s == "" || s[0] < utf8.RuneSelf && !hasAt(s, p.begins)) {
		return false
	}
	return len(p.holds) == 0 || p.MayStandIn(s)
}

// MayStandIn reports whether a text with a match of a pattern that Holding made may stand in s: one of its words does.
func (p *Pattern) MayStandIn(s string) bool {
	first := p.firstOfHolds()
	for i := range len(s) {
		if first[s[i]] && hasAt(s[i:], p.holds) {
			return true
		}
	}
	return false
}

// firstOfHolds returns the table of the bytes with which a word of holds may begin, made when it is first used.
func (p *Pattern) firstOfHolds() *[256]bool {
	if t := p.first.Load(); t != nil {
		return t
	}
	t := new([256]bool)
	for _, w := range p.holds {
		t[w[0]], t[strings.ToUpper(w)[0]] = true, true
	}
	p.first.Store(t)
	return t
}

// hasAt reports whether s begins with one of the words.
func hasAt(s string, words []string) bool {
	for _, w := range words {
		n := 0
		for n < len(w) && n < len(s) && (s[n] == w[n] || s[n]|0x20 == w[n] && w[n] >= 'a') {
			n++
		}
		if n == len(w) {
			return true
		}
	}
	return false
}

// regexp returns the expression, compiled. Goroutines that come at once may each compile it; one of theirs stays.
func (p *Pattern) regexp() *regexp.Regexp {
	if r := p.compiled.Load(); r != nil {
		return r
	}
	p.compiled.CompareAndSwap(nil, regexp.MustCompile(p.expr))
	return p.compiled.Load()
}

// MatchString reports whether s has a match.
func (p *Pattern) MatchString(s string) bool { return p.may(s) && p.regexp().MatchString(s) }

// Match reports whether b has a match.
func (p *Pattern) Match(b []byte) bool { return p.regexp().Match(b) }

// FindString returns the first match in s.
func (p *Pattern) FindString(s string) string { return p.regexp().FindString(s) }

// FindStringSubmatch returns the first match in s and those of its groups.
func (p *Pattern) FindStringSubmatch(s string) []string {
	if !p.may(s) {
		return nil
	}
	return p.regexp().FindStringSubmatch(s)
}

// FindSubmatch returns the first match in b and those of its groups.
func (p *Pattern) FindSubmatch(b []byte) [][]byte { return p.regexp().FindSubmatch(b) }

// FindAllStringSubmatchIndex returns where the first n matches in s and their groups lie; all of them if n is negative.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.regexp().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString returns s with the template in the place of each match.
func (p *Pattern) ReplaceAllString(s, template string) string {
	return p.regexp().ReplaceAllString(s, template)
}

// Split returns what lies between the first n-1 matches in s; between all of them if n is negative.
func (p *Pattern) Split(s string, n int) []string { return p.regexp().Split(s, n) }
