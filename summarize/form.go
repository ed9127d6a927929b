package summarize

import (
	"strconv"

	"epitome/internal/lazyregexp"
	"epitome/summarize/prose"
)

// What refusals say of a form: a cap on the output and how high it may be, a cap that is unknown, or that the provider
// answers in streams alone. A complaint about an upstream is none about streams.
var (
	highestCap = lazyregexp.New(`(?i)\bmax(?:_completion|_output)?_tokens\b[^<>]*?(?:<=?|>|at most|equal to) ?([0-9]+)`)
	anyCap     = lazyregexp.New(`\bmax(?:_completion|_output)?_tokens\b`)
	streamWord = lazyregexp.New(`(?i)\bstream(?:ing|ed)?\b`)
)

// adaptForm returns the form to ask in after a provider has refused f: with a lower cap on the output, with the other cap,
// or as a stream. It is false if f is not what was refused.
func adaptForm(f prose.Form, refusal []byte) (prose.Form, bool) {
	if found := highestCap().FindSubmatch(refusal); found != nil {
		if n, err := strconv.Atoi(string(found[1])); err == nil && n > 0 && n < f.MaxOutput {
			f.MaxOutput = n
			return f, true
		}
	}
	switch {
	case !f.OtherCap && anyCap().Match(refusal):
		f.OtherCap = true
	case !f.Stream && streamWord().Match(refusal):
		f.Stream = true
	default:
		return f, false
	}
	return f, true
}
