// Package window knows how many tokens a model holds.
//
// Every name has an answer, found without asking anyone, and the answer says where it comes from. In this order: the
// configuration, what the server said when it was asked, a built-in table, the family of the name, the configured
// default. Lessons of traffic correct it downwards: a window that a refusal states holds for a day, one that follows
// from a refusal or from a silent cut for an hour, and both end when a larger request is answered. Windows are made
// anew with each configuration; Lessons outlive it. A Prober asks servers in the background. ReadRefusal reads how
// providers say that a request is too long.
//
// That a window is right is not promised: providers change their limits, and hosts and accounts lower them.
package window

import (
	"cmp"
	"slices"
	"strings"

	"epitome/unit"
)

// Config is the table [window] of the configuration.
type Config struct {
	Default unit.Tokens            `toml:"default"` // for models that nothing is known of
	Models  map[string]unit.Tokens `toml:"models"`  // pattern (* is any run of characters, ? is one; case does not matter) -> at most
	Probe   bool                   `toml:"probe"`   // servers may be asked; it is for who asks them
}

// Source is where a window's size comes from.
type Source string

// The sources, from the one that is asked first. A Default deserves a warning, and so does what is below the
// configuration.
const (
	Learned    Source = "learned" // from a refusal, or from a request that was cut
	Configured Source = "configured"
	Probed     Source = "probed" // told by the server
	Table      Source = "table"
	Family     Source = "family"
	Default    Source = "default"
)

// Window is what a model holds.
type Window struct {
	Tokens int // a request and its answer together; where the provider takes less as a request alone, that
	Source Source
}

// Windows finds the windows of models. Make one with New; its methods may be called from any goroutine.
type Windows struct {
	fallback int
	patterns []rule   // the one that wins first
	lessons  *Lessons // nil: there are none
}

// rule is a row of Config.Models, in lower case.
type rule struct {
	text   string
	tokens int
}

// question is a model at an upstream, by the very names of a request.
type question struct{ upstream, model string }

// maxName is how many bytes a name may have that is looked up or remembered: requests make up names.
const maxName = 256

func (q question) isLong() bool { return len(q.upstream) > maxName || len(q.model) > maxName }

// New makes Windows of a configuration whose patterns are not empty and whose numbers are greater than zero, and of
// lessons, which go on being learned; nil is none.
func New(c Config, l *Lessons) *Windows {
	w := &Windows{fallback: int(c.Default), lessons: l}
	for text, tokens := range c.Models {
		w.patterns = append(w.patterns, rule{strings.ToLower(text), int(tokens)})
	}
	slices.SortFunc(w.patterns, func(a, b rule) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.tokens, b.tokens))
	})
	return w
}

// Of is the window of the model that a request to the upstream names, as the request spells it: with a provider in
// front ("openai/gpt-4o", "us.anthropic.claude-…"), a date or a variant behind (":free"), or fine-tuned
// ("ft:gpt-4o:…"). The longest of the configured patterns that fits this name wins; of two as long, the smaller
// window. What was learned is of the very names of upstream and model.
func (w *Windows) Of(upstream, model string) Window {
	found := w.search(upstream, model)
	if w.lessons == nil {
		return found
	}
	learned, probed := w.lessons.current(question{upstream, model})
	if probed > 0 && (probed < found.Tokens || found.Source != Configured) {
		found = Window{probed, Probed}
	}
	if learned > 0 && learned < found.Tokens {
		found = Window{learned, Learned}
	}
	return found
}

// Configured is the window that the configuration gives a model; 0 if it gives none.
func (w *Windows) Configured(model string) (tokens int) {
	model = strings.ToLower(model)
	for _, p := range w.patterns {
		if unit.Match(p.text, model) {
			return p.tokens
		}
	}
	return 0
}

// search finds the window without the lessons.
func (w *Windows) search(upstream, model string) Window {
	if tokens := w.Configured(model); tokens > 0 {
		return Window{tokens, Configured}
	}
	if len(model) > maxName {
		return Window{w.fallback, Default}
	}
	n := readName(strings.ToLower(model))
	if tokens, ok := builtIn().find(strings.ToLower(upstream), n); ok {
		return Window{tokens, Table}
	}
	if tokens, ok := familyOf(n.bare); ok {
		return Window{tokens, Family}
	}
	return Window{w.fallback, Default}
}

// Usable is how many tokens of a window a request may take: what it asks for as output stays free, but at least 8,192
// tokens or an eighth of the window, whichever is less, and at most a quarter. maxOutput is 0 if the request does not
// say.
func Usable(window, maxOutput int) int {
	reserve := max(maxOutput, min(8192, window/8))
	return window - min(reserve, window/4)
}
