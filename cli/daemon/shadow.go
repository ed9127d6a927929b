package daemon

import (
	"context"
	"errors"

	"epitome/rewrite"
	"epitome/store"
	"epitome/summarize"
	"epitome/summarize/prose"
)

// shadowed are means by which nothing is written where m would write, and nobody is asked.
func shadowed(m rewrite.Deps) rewrite.Deps {
	m.Ledger = m.Ledger.Overlay(store.NewMemory(shadowMemory))
	m.Shelf = shadowShelf{m.Shelf}
	m.Summarizer, m.Tell = looking(m.Summarizer), nil
	return m
}

// looking is a summarizer that has what the live one has made, and asks nobody; nil if there is none.
func looking(live rewrite.Summarizer) rewrite.Summarizer {
	if s, ok := live.(*summariser); ok {
		return shadowSummariser{s.Summarizer}
	}
	return nil
}

// shadowShelf names what would be put there, and keeps nothing.
type shadowShelf struct{ rewrite.Shelf }

// Put keeps nothing.
func (shadowShelf) Put(string, []byte, bool) error { return nil }

// Touch pretends that all is there.
func (shadowShelf) Touch(string) bool { return true }

// shadowSummariser has what was made before, and lets nobody be asked.
type shadowSummariser struct{ *summarize.Summarizer }

// errNotAsked is why there is no prose.
var errNotAsked = errors.New("nothing is asked in this mode")

// Look leaves prose as it is, and knows nothing of what is being made.
func (s shadowSummariser) Look(key string) (p prose.Prose, found, pending bool) {
	p, found = s.Peek(key)
	return p, found, false
}

// Ask asks nobody.
func (shadowSummariser) Ask(context.Context, prose.Question) (prose.Prose, error) {
	return prose.Prose{}, errNotAsked
}

// Prepare does nothing.
func (shadowSummariser) Prepare(prose.Question) {}

// Prepares is false.
func (shadowSummariser) Prepares(string) bool { return false }
