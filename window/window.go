// Package window is how many tokens a model can hold.
//
// It promises an answer for every name, found without asking anyone. The answer says where it comes from: the
// configuration, else what a server has said of itself, else the entry of a built-in table, else that of the name's
// family, else the configured default. Use corrects it downwards (Lessons). A window is less than the configured one
// if a refusal has stated less, if less follows from a refusal or from a silent cut, or if the server has said less.
// A stated window holds for a day, one that follows for an hour, and both end when a larger request is answered.
// Windows are made anew with each configuration; Lessons outlive it.
//
// It does not promise that a window is right: providers change their limits, and hosts and accounts lower them.
//
// The package does no I/O but through a Keeper, and asks nobody. Looks says how a server can be asked, and ReadProbe
// reads what it answers. Who asks hands that in with Lessons.Probe. ReadRefusal reads how a provider says that a
// request is too long.
package window

import (
	"cmp"
	"slices"
	"strings"
	"sync"

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
	patterns []rule       // the one that wins first
	table    func() table // read when the first window is asked for
	lessons  *Lessons     // nil: there are none

	mu    sync.RWMutex
	known map[question]Window // what was found before, without lessons, at most maxKnown
}

// rule is a row of Config.Models, in lower case.
type rule struct {
	text   string
	tokens int
}

type question struct{ upstream, model string }

// Model names come from requests: whoever makes them up may neither fill the memory nor take much time.
const (
	maxKnown = 1024 // answers kept; when they are reached, all are forgotten
	maxName  = 256  // bytes of a name that may be in the table, and whose answer is kept
)

// New makes Windows of a configuration whose patterns are not empty and whose numbers are greater than zero, and of the
// lessons of use, which go on being learned; nil is none.
func New(c Config, l *Lessons) *Windows {
	w := &Windows{fallback: int(c.Default), table: builtIn.Get, lessons: l, known: map[question]Window{}}
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
	found := w.withoutLessons(upstream, model)
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

// withoutLessons is the window without the lessons of use.
func (w *Windows) withoutLessons(upstream, model string) Window {
	if len(model) > maxName {
		return w.search(upstream, model)
	}
	w.mu.RLock()
	found, ok := w.known[question{upstream, model}]
	w.mu.RUnlock()
	if ok {
		return found
	}
	found = w.search(upstream, model)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.known) >= maxKnown {
		clear(w.known)
	}
	// The names are copied: they may be parts of a whole request.
	w.known[question{strings.Clone(upstream), strings.Clone(model)}] = found
	return found
}

func (w *Windows) search(upstream, model string) Window {
	if tokens := w.Configured(model); tokens > 0 {
		return Window{tokens, Configured}
	}
	model = strings.ToLower(model)
	if len(model) > maxName {
		return Window{w.fallback, Default}
	}
	n := readName(model)
	if tokens, ok := w.table().find(strings.ToLower(upstream), n); ok {
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
