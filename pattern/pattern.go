// Package pattern compiles a regular expression when it is first used. Hundreds of them stand in tables, and most
// processes need a few. Compiled when the process starts, they would delay it by milliseconds.
//
// It promises what regexp promises. An expression that cannot be compiled panics at its first use.
package pattern

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Pattern is one regular expression. Goroutines may share it.
type Pattern struct {
	compiled func() *regexp.Regexp
	begins   []string  // small letters of ASCII, or signs, with one of which each text with a match begins
	holds    []string  // likewise, of which one stands in each
	first    [256]bool // with which those of holds begin
}

// Of returns the pattern of an expression of package regexp.
func Of(expr string) *Pattern {
	return &Pattern{compiled: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// Beginning is the pattern of an expression of which each text with a match begins with one of the words, or with no
// sign of ASCII. Small letters stand for large ones too. Tens of thousands of texts without one are told apart without
// a look at the expression.
func Beginning(expr string, words ...string) *Pattern {
	p := Of(expr)
	p.begins = words
	return p
}

// Holding is the pattern of an expression of which one of the words stands in each text with a match. Small letters
// stand for large ones too.
func Holding(expr string, words ...string) *Pattern {
	p := Of(expr)
	p.holds = words
	for _, w := range words {
		p.first[w[0]], p.first[strings.ToUpper(w)[0]] = true, true
	}
	return p
}

// may reports whether s may have a match.
func (p *Pattern) may(s string) bool {
	if len(p.begins) > 0 && (s == "" || s[0] < utf8.RuneSelf && !hasAt(s, p.begins)) {
		return false
	}
	return len(p.holds) == 0 || p.MayStandIn(s)
}

// MayStandIn reports whether a text with a match of a pattern that Holding made may stand in s: one of its words does.
func (p *Pattern) MayStandIn(s string) bool {
	for i := range len(s) {
		if p.first[s[i]] && hasAt(s[i:], p.holds) {
			return true
		}
	}
	return false
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

// MatchString reports whether s has a match.
func (p *Pattern) MatchString(s string) bool { return p.may(s) && p.compiled().MatchString(s) }

// Match reports whether b has a match.
func (p *Pattern) Match(b []byte) bool { return p.compiled().Match(b) }

// FindString returns the first match in s.
func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindStringIndex returns where the first match in s lies.
func (p *Pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

// FindStringSubmatch returns the first match in s and those of its groups.
func (p *Pattern) FindStringSubmatch(s string) []string {
	if !p.may(s) {
		return nil
	}
	return p.compiled().FindStringSubmatch(s)
}

// FindAllStringSubmatchIndex returns where the first n matches in s and their groups lie; all of them if n is negative.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString returns s with the template in the place of each match.
func (p *Pattern) ReplaceAllString(s, template string) string {
	return p.compiled().ReplaceAllString(s, template)
}

// Split returns what lies between the first n-1 matches in s; between all of them if n is negative.
func (p *Pattern) Split(s string, n int) []string { return p.compiled().Split(s, n) }
