// Package window knows how many tokens a model holds.
//
// Every name has an answer at once, and it says where it comes from: the configuration, what the server said when it
// was asked in the background, a built-in table of families of models, or the configured default. Traffic corrects it
// downwards: a window that a refusal states holds for a day, one that only follows from a refusal for an hour, and both
// end when a larger request is answered. ReadRefusal reads how providers say that a request is too long.
package window

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"epitome/internal/unit"
	"epitome/store"
)

// Config is the table [window] of the configuration.
type Config struct {
	Default unit.Tokens            `toml:"default"` // for models that nothing is known of
	Models  map[string]unit.Tokens `toml:"models"`  // by pattern, as unit.Match reads it: at most
	Probe   bool                   `toml:"probe"`   // servers may be asked; it is for who calls Configure
}

// Source is where a window's size comes from.
type Source string

// The sources. A Default deserves a warning, and so does what is below the configuration.
const (
	Learned    Source = "learned" // from a refusal
	Configured Source = "configured"
	Probed     Source = "probed" // told by the server
	Table      Source = "table"
	Default    Source = "default"
)

// Window is what a model holds.
type Window struct {
	Tokens int // a request and its answer together; where the provider takes less as a request alone, that
	Source Source
	Until  time.Time // the end of what a refusal or the server has said; else zero
}

// Windows finds the windows of models, and learns of them. Make one with New; its methods may be called from any
// goroutine.
type Windows struct {
	store   store.Store // nil: what is learned ends with the process
	now     func() time.Time
	life    context.Context // ends what servers are asked
	stop    context.CancelFunc
	running sync.WaitGroup
	asking  sync.Mutex // of one server at a time

	mu      sync.Mutex // guards all below
	config  Config
	rules   []rule
	known   map[id]*known   // at most mostKnown
	servers map[string]bool // as Configure has them
}

// rule is a pattern in lower case, with the window of models that fit it.
type rule struct {
	pattern string
	tokens  int
}

// find returns the tokens of the first rule that fits a name; 0 if none does.
func find(rules []rule, name string) int {
	for _, rule := range rules {
		if unit.Match(rule.pattern, name) {
			return rule.tokens
		}
	}
	return 0
}

// New makes Windows of a configuration whose patterns are not empty and whose numbers are greater than zero. They begin
// with what an earlier run has learned into the store, which may be nil. Who calls Probe calls Close at the end.
func New(c Config, s store.Store, now func() time.Time) *Windows {
	w := &Windows{store: s, now: now, known: map[id]*known{}}
	w.life, w.stop = context.WithCancel(context.Background())
	w.Configure(c, nil)
	return w
}

// Configure puts another configuration in force. servers are the upstreams that may be asked how much their models
// hold, and whether each is the user's own: on this machine or in its network, it may be of any kind; others are asked
// for the list of the common API alone. All are asked anew, as whoever changes the configuration may have changed a
// server, too.
func (w *Windows) Configure(c Config, servers map[string]bool) {
	var all []rule
	for pattern, tokens := range c.Models {
		all = append(all, rule{strings.ToLower(pattern), int(tokens)})
	}
	slices.SortFunc(all, func(a, b rule) int { // the longest pattern first; of two as long, the smaller window
		return cmp.Or(cmp.Compare(len(b.pattern), len(a.pattern)), cmp.Compare(a.tokens, b.tokens))
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.config, w.rules, w.servers = c, all, servers
	for _, k := range w.known {
		k.askAt = time.Time{}
	}
}

// Of is the window of the model that a request to the upstream names, as the request spells it: with a provider in
// front ("openai/gpt-4o", "us.anthropic.claude-…"), a date or a variant behind (":free"), or fine-tuned
// ("ft:gpt-4o:…"). The longest of the configured patterns that fits this name wins; of two as long, the smaller
// window. What was learned is of the very names of upstream and model.
func (w *Windows) Of(upstream, model string) Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.of(upstream, model)
	found := Window{Tokens: int(w.config.Default), Source: Default}
	tokens := find(w.rules, strings.ToLower(model))
	if tokens > 0 {
		found = Window{Tokens: tokens, Source: Configured}
	} else if k.family > 0 {
		found = Window{Tokens: k.family, Source: Table}
	}
	_, mayProbe := w.servers[upstream]
	if mayProbe && w.holds(k.probed) && (k.probed.Tokens < found.Tokens || found.Source != Configured) {
		found = Window{k.probed.Tokens, Probed, k.probed.Until}
	}
	if w.holds(k.learned) && k.learned.Tokens < found.Tokens {
		found = Window{k.learned.Tokens, Learned, k.learned.Until}
	}
	return found
}

// Usable is how many tokens of a window a request may take: what it asks for as output stays free, but at least 8,192
// tokens or an eighth of the window, whichever is less, and at most half. maxOutput is 0 if the request does not say.
func Usable(window, maxOutput int) int {
	reserve := max(maxOutput, min(8192, window/8))
	return window - min(reserve, window/2)
}

//go:embed models.txt
var modelsText string

// table has patterns for names as familyName returns them; the first that fits holds.
var table = sync.OnceValue(func() (all []rule) {
	for line := range strings.Lines(modelsText) {
		number, patterns, _ := strings.Cut(line, " ")
		tokens, err := strconv.Atoi(number)
		if err != nil {
			continue // a comment
		}
		for pattern := range strings.FieldsSeq(patterns) {
			all = append(all, rule{pattern, tokens})
		}
	}
	return all
})

var (
	maker   = regexp.MustCompile(`^(?:.*/)?(?:(?:openai|anthropic|google):|databricks-)?(?:[^.0-9:@]*\.)*`)
	joint   = regexp.MustCompile(`([0-9])[._p]([0-9])`)
	variant = regexp.MustCompile(`(-v[0-9]+:[0-9]+(:.*)?|[:@].*)$`)
	date    = regexp.MustCompile(`-(20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|latest)$`)
)

// familyName returns the name of a model, in lower case, without provider, region, variant (":free", "@default",
// Bedrock's "-v1:0") and date, and with the numbers of its version joined alike: 4.1 and 4p1 are 4-1. Million stays.
func familyName(model string) string {
	model, isLong := strings.CutSuffix(model, Million)
	if tuned, ok := strings.CutPrefix(model, "ft:"); ok {
		model, _, _ = strings.Cut(tuned, ":")
	}
	model = joint.ReplaceAllString(maker.ReplaceAllString(model, ""), "$1-$2")
	model = date.ReplaceAllString(variant.ReplaceAllString(model, ""), "")
	if isLong {
		model += Million
	}
	return model
}

// Million follows the name of a model in requests that ask for a window of a million tokens by a beta of Anthropic's.
const Million = "[1m]"

// What is remembered, and for how long.
const (
	mostKnown   = 256
	maxName     = 256 // bytes of a name that count: requests make up names
	keepStated  = 24 * time.Hour
	keepGuessed = time.Hour
	readEvery   = 5 * time.Second // others may learn into the same store
)

// id names a model at an upstream as requests do.
type id struct{ upstream, model string }

// known is what is known of one model at one upstream.
type known struct {
	id
	family   int       // tokens by the name; 0 if the table has none that fits
	learned  lesson    // from refusals, and in the store
	probed   lesson    // from its server
	answered int       // most tokens of an answered request, by the provider's count if it says
	readAt   time.Time // when learned was read
	askAt    time.Time // when the server may be asked again
}

func (k *known) key() string { return "window/" + k.upstream + "\x00" + k.model }

// lesson is a window, for a time; without tokens it is none.
type lesson struct {
	Tokens int       `json:"tokens"`
	Until  time.Time `json:"until"`
}

func (w *Windows) holds(n lesson) bool { return n.Tokens >= Least && w.now().Before(n.Until) }

// of returns what is known of a model, to be changed. The caller holds w.mu.
func (w *Windows) of(upstream, model string) *known {
	q := id{upstream, model[:min(len(model), maxName)]}
	k := w.known[q]
	if k == nil {
		if len(w.known) >= mostKnown {
			clear(w.known) // servers are asked again, and lessons are in the store
		}
		q = id{strings.Clone(q.upstream), strings.Clone(q.model)} // they may be parts of a whole request
		k = &known{id: q, family: find(table(), familyName(strings.ToLower(q.model)))}
		w.known[q] = k
	}
	now := w.now()
	if w.store == nil || now.Sub(k.readAt).Abs() < readEvery {
		return k
	}
	k.readAt = now
	var n lesson
	value, _ := store.Get(w.store, k.key())
	if json.Unmarshal(value, &n) == nil {
		k.learned = n
	}
	return k
}

// learn replaces the lesson of a model. The caller holds w.mu.
func (w *Windows) learn(k *known, n lesson) {
	k.learned = n
	if w.store == nil {
		return
	}
	value, _ := json.Marshal(n) // plain data
	if old, err := store.Get(w.store, k.key()); err == nil {
		_, _ = w.store.Swap(k.key(), old, value, keepStated) // what is not stored is learned again
	}
}

// LearnRefusal learns from a refusal whose request was accepted once it was smaller: the window that it states, or
// else, if the request was too long by our count, that the window is a little smaller than the request. As that count
// may be too low, such a window is not below a request that was answered, until a second refusal says the same. It
// returns what was learned, which deserves a warning; 0 is nothing.
func (w *Windows) LearnRefusal(upstream, model string, r Refusal, s Sent) (learned int) {
	believed := w.Of(upstream, model).Tokens
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.of(upstream, model)
	if r.Requested > 0 && 4*r.Requested < s.Tokens { // it speaks of another request, or quotes one
		return 0
	}
	tokens, keep := r.Limit, keepStated
	if r.Cause == Input && !r.Below(believed) { // the window only follows from the size of the request
		tokens, keep = max(s.Tokens-s.Tokens/20, k.answered), keepGuessed
		k.answered = 0
	}
	if tokens < Least || tokens >= believed {
		return 0
	}
	w.learn(k, lesson{tokens, w.now().Add(keep)})
	return tokens
}

// LearnAnswer takes a window back if an answered request had more tokens, by our count and by the provider's. used is 0 if
// the provider does not say.
func (w *Windows) LearnAnswer(upstream, model string, counted, used int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.of(upstream, model)
	most, sure := counted, counted-counted/10 // we may count more than the provider
	if used > 0 {
		most, sure = used, min(counted, used)
	}
	k.answered = max(k.answered, most)
	if w.holds(k.probed) && sure > k.probed.Tokens {
		k.probed = lesson{}
	}
	if w.holds(k.learned) && sure > k.learned.Tokens {
		w.learn(k, lesson{})
	}
}
