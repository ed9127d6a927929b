package money

import (
	"regexp"
	"slices"
	"strings"

	"epitome/internal/lazyregexp"
)

// names are which names of models a row is for: one of several lists of clauses must hold.
type names [][]clause

// clause is what a name has to do with a text. A sign says what: = is it, ^ begins with it, $ ends with it, * has it,
// ~ fits it as an expression, ! does not. Case does not matter: names are compared in lower case.
type clause struct {
	sign byte
	text string
	expr func() *regexp.Regexp // of ~ and !, compiled when it is first needed
}

// readNames reads what internal/tables writes: clauses with commas between, and & between those that must all hold.
// "-" is no name at all.
func readNames(s string) (n names) {
	if s == "-" {
		return nil
	}
	for one := range strings.SplitSeq(s, ",") {
		var all []clause
		for text := range strings.SplitSeq(one, "&") {
			all = append(all, clause{sign: text[0], text: text[1:], expr: lazyregexp.New(text[1:])})
		}
		n = append(n, all)
	}
	return n
}

// fit reports whether a name is one of them.
func (n names) fit(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return slices.ContainsFunc(n, func(all []clause) bool {
		return !slices.ContainsFunc(all, func(c clause) bool { return !c.holds(name) })
	})
}

func (c clause) holds(name string) bool {
	switch c.sign {
	case '=':
		return name == c.text
	case '^':
		return strings.HasPrefix(name, c.text)
	case '$':
		return strings.HasSuffix(name, c.text)
	case '*':
		return strings.Contains(name, c.text)
	case '~':
		return c.expr().MatchString(name)
	case '!':
		return !c.expr().MatchString(name)
	}
	panic("BUG: a clause of the table of prices has no sign: " + c.text)
}
