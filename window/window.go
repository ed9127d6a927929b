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
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
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
}

// Windows finds the windows of models, and learns of them. Make one with New; its methods may be called from any
// goroutine.
type Windows struct {
	store   store.Store // nil: what is learned ends with the process
	now     func() time.Time
	life    context.Context // ends what servers are asked
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex // guards all below
	config  Config
	rules   []rule
	known   map[id]*known   // at most mostKnown
	servers map[string]bool // as Configure has them
	asking  bool
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
	found := Window{int(w.config.Default), Default}
	if tokens := find(w.rules, strings.ToLower(model)); tokens > 0 {
		found = Window{tokens, Configured}
	} else if k.family > 0 {
		found = Window{k.family, Table}
	}
	_, isProbed := w.servers[upstream]
	isProbed = isProbed && w.holds(k.probed)
	if isProbed && (k.probed.Tokens < found.Tokens || found.Source != Configured) {
		found = Window{k.probed.Tokens, Probed}
	}
	if w.holds(k.learned) && k.learned.Tokens < found.Tokens {
		found = Window{k.learned.Tokens, Learned}
	}
	return found
}

// Usable is how many tokens of a window a request may take: what it asks for as output stays free, but at least 8,192
// tokens or an eighth of the window, whichever is less, and at most a quarter. maxOutput is 0 if the request does not
// say.
func Usable(window, maxOutput int) int {
	reserve := max(maxOutput, min(8192, window/8))
	return window - min(reserve, window/4)
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
	maker   = lazily(`^(?:.*/)?(?:(?:openai|anthropic|google):|databricks-)?(?:[^.0-9:@]*\.)*`)
	joint   = lazily(`([0-9])[._p]([0-9])`)
	variant = lazily(`(-v[0-9]+:[0-9]+(:.*)?|[:@].*)$`)
	date    = lazily(`-(20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|latest)$`)
)

// familyName returns the name of a model, in lower case, without provider, region, variant (":free", "@default",
// Bedrock's "-v1:0") and date, and with the numbers of its version joined alike: 4.1 and 4p1 are 4-1. Million stays.
func familyName(model string) string {
	model, long := strings.CutSuffix(model, Million)
	if tuned, ok := strings.CutPrefix(model, "ft:"); ok {
		model, _, _ = strings.Cut(tuned, ":")
	}
	model = joint().ReplaceAllString(maker().ReplaceAllString(model, ""), "$1-$2")
	model = date().ReplaceAllString(variant().ReplaceAllString(model, ""), "")
	if long {
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
	keepProbed  = 2 * time.Hour
	askAgain    = time.Hour
	askLoading  = 30 * time.Second // an own server that does not say it: it may be loading the model
	probeWait   = 5 * time.Second  // for one answer of a server
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
	value, found, _ := w.store.Get(k.key())
	if found && json.Unmarshal(value, &n) == nil {
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
	if old, _, err := w.store.Get(k.key()); err == nil {
		_, _ = w.store.Swap(k.key(), old, value, keepStated) // what is not stored is learned again
	}
}

// LearnRefusal learns from a refusal whose request was accepted once it was smaller: the window that it states, or
// else, if the request was too long by our count, that the window is a little smaller than the request. As that count
// may be too low, such a window is not below a request that was answered, until a second refusal says the same. It
// returns what was learned; ok reports that this is news, which deserves a warning.
func (w *Windows) LearnRefusal(upstream, model string, r Refusal, s Sent) (tokens int, ok bool) {
	believed := w.Of(upstream, model).Tokens
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.of(upstream, model)
	tokens, keep := r.Limit, keepStated
	if r.Cause == Input && !r.Below(believed) { // the window only follows from the size of the request
		tokens, keep = max(s.Tokens-s.Tokens/20, k.answered), keepGuessed
		k.answered = 0
	}
	if tokens < Least || tokens >= believed {
		return 0, false
	}
	w.learn(k, lesson{tokens, w.now().Add(keep)})
	return tokens, true
}

// LearnAnswer takes a window back if an answered request had more tokens, by our count and by the provider's, and
// returns it; 0 is none. used is 0 if the provider does not say.
func (w *Windows) LearnAnswer(upstream, model string, counted, used int) (refuted int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.of(upstream, model)
	most, sure := counted, counted-counted/10 // we may count more than the provider
	if used > 0 {
		most, sure = used, min(counted, used)
	}
	k.answered = max(k.answered, most)
	if w.holds(k.probed) && sure > k.probed.Tokens {
		refuted = k.probed.Tokens
		k.probed = lesson{}
	}
	if w.holds(k.learned) && sure > k.learned.Tokens {
		refuted = max(refuted, k.learned.Tokens)
		w.learn(k, lesson{})
	}
	return refuted
}

// Get asks an upstream for what lies at a path, without a client's key.
type Get func(ctx context.Context, upstream, path string) (status int, answer []byte, err error)

// look is a question by which a server may tell how much its models hold, and where its answer says so: paths of the
// list of models, and of lists of the names and sizes in one of them.
type look struct {
	path                 string
	models, names, sizes string
	one                  bool // where all models hold the same, the server runs one, whatever it is called
}

// looks are in the order in which they are worth asking. None has a server load a model, and what a model could hold is
// not read: servers are run with less. A path that ends with "=" wants the model's name.
var looks = []look{
	// vLLM, SGLang, and providers: OpenRouter, Groq, Together, Fireworks, Mistral, Moonshot
	{path: "/v1/models", models: "data", names: "[id,canonical_slug,root,aliases]", one: true,
		sizes: "[max_model_len,context_window,context_length,max_context_length,top_provider.context_length]"},
	// llama.cpp; one that has many models would load this one without the first parameter
	{path: "/props?autoload=false&model=", models: "default_generation_settings", sizes: "[n_ctx]", one: true},
	// Ollama: what is loaded now
	{path: "/api/ps", models: "models", names: "[name,model]", sizes: "[context_length]"},
	// LM Studio, and from 0.4 on
	{path: "/api/v0/models", models: "data", names: "[id]", sizes: "[loaded_context_length]"},
	{path: "/api/v1/models", models: "models", names: "[key,loaded_instances.#.id]",
		sizes: "[loaded_instances.#.config.context_length]"},
}

// read returns how much the model holds; 0 is unknown. The model may be listed without its variant (":nitro"), in
// another folder, or with Ollama's usual tag. Of several sizes the least counts: a host tells the model's and its own.
func (l look) read(answer gjson.Result, model string) int {
	models := answer.Get(l.models)
	if answer.IsArray() { // Together
		models = answer
	}
	base := func(name string) string {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		return "base of " + strings.TrimSuffix(strings.TrimSuffix(name, ".gguf"), ":latest")
	}
	lower := func(m, n int) int { return min(cmp.Or(m, n), n) } // of two sizes; 0 is unknown

	sizes := map[string]int{} // by name
	least, most := 0, 0       // of all sizes
	for _, m := range models.Array() {
		size := 0
		for _, v := range m.Get(l.sizes + "|@flatten").Array() {
			if n := v.Int(); n >= Least && n <= Most {
				size = lower(size, int(n))
			}
		}
		if size == 0 {
			continue
		}
		least, most = lower(least, size), max(most, size)
		for _, v := range m.Get(l.names + "|@flatten").Array() {
			name := strings.ToLower(v.String())
			for _, key := range []string{name, base(name)} {
				sizes[key] = lower(sizes[key], size)
			}
		}
	}
	model = strings.ToLower(model)
	plain, _, _ := strings.Cut(model, ":")
	tokens := cmp.Or(sizes[model], sizes[plain], sizes[base(model)])
	if tokens == 0 && l.one && least == most {
		return least
	}
	return tokens
}

// Probe has a server asked through get, in the background, about a model to which a request goes, if that is due. One
// thing is asked at a time.
func (w *Windows) Probe(upstream, model string, get Get, log *slog.Logger) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, k := w.now(), w.of(upstream, model)
	own, ok := w.servers[upstream]
	if !ok || w.asking || now.Before(k.askAt) || w.life.Err() != nil {
		return
	}
	k.askAt = now.Add(askAgain)
	if own {
		k.askAt = now.Add(askLoading)
	}
	w.asking = true
	w.running.Go(func() { w.probe(k.id, own, get, log) })
}

// probe keeps how much a model holds, if its server says so.
func (w *Windows) probe(q id, own bool, get Get, log *slog.Logger) {
	log = log.With("upstream", q.upstream, "model", event.Clip(q.model))
	defer func() {
		if caught := recover(); caught != nil {
			log.Error("panic while asking how much a model holds", "panic", caught, "stack", string(debug.Stack()))
		}
		w.mu.Lock()
		w.asking = false
		w.mu.Unlock()
	}()
	tokens, status, err := w.ask(q, own, get)
	if tokens == 0 {
		log.Debug("a server does not say how much a model holds", "status", status, "error", err)
		return
	}
	believed := w.Of(q.upstream, q.model)
	w.mu.Lock()
	k, now := w.of(q.upstream, q.model), w.now()
	k.askAt, k.probed = now.Add(askAgain), lesson{tokens, now.Add(keepProbed)}
	w.mu.Unlock()
	log = log.With("window", tokens, "believed", believed.Tokens, "from", string(believed.Source))
	if tokens < believed.Tokens && believed.Source == Configured {
		log.Warn("a server says that a model holds less than is configured; its figure is used",
			"do", "write the smaller number in [window.models], or have the server hold more")
	} else if tokens != believed.Tokens {
		log.Info("a server says how much a model holds")
	}
}

// ask asks one question after the other until the server says how much the model holds. What fails within a server may
// not on another path; one that cannot be reached is asked nothing else, and one that is not the user's own nothing but
// the first.
func (w *Windows) ask(q id, own bool, get Get) (tokens, status int, err error) {
	for _, l := range looks {
		path := l.path
		if strings.HasSuffix(path, "=") {
			path += url.QueryEscape(q.model)
		}
		ctx, cancel := context.WithTimeout(w.life, probeWait)
		var answer []byte
		status, answer, err = get(ctx, q.upstream, path)
		cancel()
		if status == http.StatusOK && gjson.ValidBytes(answer) {
			tokens = l.read(gjson.ParseBytes(answer), q.model)
		}
		if tokens > 0 || err != nil || !own {
			break
		}
	}
	return tokens, status, err
}

// Close ends what is being asked, and returns when nothing is any more.
func (w *Windows) Close() {
	w.mu.Lock()
	w.stop()
	w.mu.Unlock()
	w.running.Wait()
}
