// Package pattern compiles a regular expression when it is first used. Hundreds of them stand in tables, and most
// processes need a few. Compiled when the process starts, they would delay it by milliseconds.
//
// It promises what regexp promises. An expression that cannot be compiled panics at its first use.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is one regular expression. Goroutines may share it.
type Pattern struct{ compiled func() *regexp.Regexp }

// Of returns the pattern of an expression of package regexp.
func Of(expr string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// MatchString reports whether s has a match.
func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// Match reports whether b has a match.
func (p *Pattern) Match(b []byte) bool { return p.compiled().Match(b) }

// FindString returns the first match in s.
func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindStringIndex returns where the first match in s lies.
func (p *Pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

// FindStringSubmatch returns the first match in s and those of its groups.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

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
