package tokenize

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Keeper keeps the ratios over a restart.
type Keeper interface {
	// Get returns what was put under the key, unless its time is over.
	Get(key string) (value []byte, found bool)
	// Put sets the value under the key for the time of keep.
	Put(key string, value []byte, keep time.Duration) error
}

// Ratios are what answers have shown of models whose vocabulary is not known here, for each source: how many tokens the
// provider counts for one that is counted here. A ratio is the median of what the newest answers say,
// and changes in steps, so that limits do not move with every answer. Make one with NewRatios; its methods may be
// called from any goroutine.
type Ratios struct {
	models Models
	keeper Keeper // nil: they end with the process

	some    atomic.Bool // a ratio holds; until then nothing is looked up
	mu      sync.RWMutex
	sources map[Source]*learned // at most mostSources
	taught  uint64              // answers that have taught any source
	saving  sync.Mutex          // held while the keeper is given what stands in sources
	shared  bool                // others change what the keeper has
}

// Source is one model at one upstream, asked in one dialect, by the very names that requests have for them. Dialects
// frame the same words with other tokens. Each is named by its key; that of Chat Completions is empty.
type Source struct{ Upstream, Model, Dialect string }

// learned is what is known of a source.
type learned struct {
	ratio   float64   // that holds; 0 until there are enough answers
	answers int       // that have taught it
	recent  []float64 // what the newest answers say, the oldest first
	latest  uint64    // of Ratios.taught, when it was taught last

	counted, used int // of the largest request, by the provider's count; 0 if there is none to hold others against
	doubted       int // answers in a row that taught nothing, held against it
}

const (
	leastCounted = 1_000 // tokens of a request below which the provider's own wrapping drowns the rest
	leastAnswers = 3     // before which no ratio holds: with three, one that is wrong is not the middle
	mostRecent   = 9     // answers of which the median is taken: it takes five that are wrong to move it
	mostDoubted  = 24    // answers in a row after which the one that they are held against is doubted itself
	leastShare   = 0.6   // of the model's own ratio: who counts less has cut the request, or leaves out what was cached
	leastRatio   = 0.3
	mostRatio    = 4.0
	leastStep    = 0.02 // by which the median has to differ from the ratio that holds, to take its place
	keepEvery    = 64   // answers after which a ratio that does not move is kept again

	mostSources = 256
	mostName    = 256 // bytes of a name; nothing is learned of longer ones
	keepRatios  = 30 * 24 * time.Hour
	ratiosKey   = "tokenize/ratios"
)

// NewRatios begins with what the keeper has from an earlier run.
func NewRatios(k Keeper, models Models) *Ratios {
	r := &Ratios{models: models, keeper: k, sources: map[Source]*learned{}}
	if k == nil {
		return r
	}
	if value, found := k.Get(ratiosKey); found {
		r.restore(value)
	}
	return r
}

// Share says, before the ratios are used, that others change what the keeper has: Refresh takes over what they have
// learned, and what is kept has that in it.
func (r *Ratios) Share() { r.shared = true }

// Refresh takes over, of each source, what more answers have taught to others.
func (r *Ratios) Refresh() {
	value, found := r.keeper.Get(ratiosKey)
	if !found {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.decoded(value) {
		known := r.of(Source{k.Upstream, k.Model, k.Dialect})
		if k.Answers > known.answers {
			known.ratio, known.answers, known.recent = k.Ratio, k.Answers, k.Recent
			r.some.Store(true)
		}
	}
}

// Of returns the ratio that answers have shown, and how many answers; 0 if there were too few. It does not allocate.
func (r *Ratios) Of(s Source) (ratio float64, answers int) {
	if !r.some.Load() {
		return 0, 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if known, ok := r.sources[s]; ok && known.ratio > 0 {
		return known.ratio, known.answers
	}
	return 0, 0
}

// Learn takes what an answer shows: the request had counted tokens, without any ratio, and the provider says that it
// had used. counted must be of exactly what was sent. Small requests and figures that cannot be right teach nothing,
// and neither do models whose own vocabulary is known.
func (r *Ratios) Learn(s Source, counted, used int) {
	if counted < leastCounted || used <= 0 || len(s.Upstream) > mostName || len(s.Model) > mostName {
		return
	}
	m := r.models.Of(s.Model)
	says := float64(used) / float64(counted)
	if m.Exact || says < m.Ratio*leastShare || says < leastRatio || says > mostRatio {
		return
	}
	r.mu.Lock()
	keep := r.of(s).learn(counted, used, r.taught)
	r.mu.Unlock()
	if keep {
		r.some.Store(true)
		r.save()
	}
}

// Forget drops what was learned of a model: its answers turn out to be about less than what was sent.
func (r *Ratios) Forget(s Source) {
	r.mu.Lock()
	known, ok := r.sources[s]
	delete(r.sources, s)
	r.mu.Unlock()
	if ok && known.ratio > 0 {
		r.save()
	}
}

// of returns what is known of a source that is being taught. If there is no room, it drops a source without a ratio,
// else the one that was taught longest ago: made-up names must not push out what real ones taught. The caller holds
// r.mu.
func (r *Ratios) of(s Source) *learned {
	r.taught++
	if known, ok := r.sources[s]; ok {
		return known
	}
	if len(r.sources) >= mostSources {
		delete(r.sources, r.expendable())
	}
	known := &learned{}
	// The names are copied: they may be parts of a whole request.
	r.sources[Source{strings.Clone(s.Upstream), strings.Clone(s.Model), s.Dialect}] = known
	return known
}

// expendable returns the source that was taught longest ago, of those without a ratio if there are any. The caller
// holds r.mu.
func (r *Ratios) expendable() (s Source) {
	var first *learned
	for other, known := range r.sources {
		if first == nil || known.goesBefore(first) {
			s, first = other, known
		}
	}
	return s
}

// goesBefore reports whether l is dropped rather than other.
func (l *learned) goesBefore(other *learned) bool {
	if (l.ratio > 0) != (other.ratio > 0) {
		return l.ratio == 0
	}
	return l.latest < other.latest
}

// learn takes one answer, and reports whether the keeper needs the source as it is then. A request that is larger than
// the largest before, although the provider counts no more, may have been cut, unless all that come say so.
func (l *learned) learn(counted, used int, now uint64) (keep bool) {
	l.latest = now
	if counted > l.counted && used <= l.used {
		if l.doubted++; l.doubted >= mostDoubted {
			l.counted, l.used, l.doubted = 0, 0, 0
		}
		return false
	}
	l.doubted = 0
	if used > l.used {
		l.counted, l.used = counted, used
	}
	l.answers++
	if l.recent = append(l.recent, float64(used)/float64(counted)); len(l.recent) > mostRecent {
		l.recent = slices.Delete(l.recent, 0, 1)
	}
	if len(l.recent) < leastAnswers {
		return false
	}
	middle := median(l.recent)
	if l.ratio == 0 || math.Abs(middle-l.ratio) > leastStep*l.ratio {
		l.ratio, keep = middle, true
	}
	return keep || l.answers%keepEvery == 0
}

// median returns the middle of list; of two, the larger one, which leaves more room in the window.
func median(list []float64) float64 {
	var room [mostRecent]float64
	sorted := append(room[:0], list...)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// kept is a source in the form in which the keeper has it.
type kept struct {
	Upstream string    `json:"upstream"`
	Model    string    `json:"model"`
	Dialect  string    `json:"dialect,omitempty"`
	Ratio    float64   `json:"ratio"`
	Answers  int       `json:"answers"`
	Recent   []float64 `json:"recent"`
}

// save gives the keeper all ratios that hold. What it does not take is learned again.
func (r *Ratios) save() {
	if r.keeper == nil {
		return
	}
	r.saving.Lock()
	defer r.saving.Unlock()
	if r.shared {
		r.Refresh()
	}
	value, err := json.Marshal(r.all())
	if err == nil {
		_ = r.keeper.Put(ratiosKey, value, keepRatios)
	}
}

// all returns the sources that have a ratio, the one that was taught longest ago first.
func (r *Ratios) all() []kept {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var held []Source
	for s, known := range r.sources {
		if known.ratio > 0 {
			held = append(held, s)
		}
	}
	slices.SortFunc(held, func(a, b Source) int { return cmp.Compare(r.sources[a].latest, r.sources[b].latest) })
	list := make([]kept, 0, len(held))
	for _, s := range held {
		known := r.sources[s]
		recent := slices.Clone(known.recent)
		list = append(list, kept{s.Upstream, s.Model, s.Dialect, known.ratio, known.answers, recent})
	}
	return list
}

// restore takes what the keeper had.
func (r *Ratios) restore(value []byte) {
	for _, k := range r.decoded(value) {
		r.taught++
		known := &learned{ratio: k.Ratio, answers: k.Answers, recent: k.Recent, latest: r.taught}
		r.sources[Source{k.Upstream, k.Model, k.Dialect}] = known
	}
	r.some.Store(len(r.sources) > 0)
}

// decoded are the sources that were kept. value may be damaged, or of another table of models.
func (r *Ratios) decoded(value []byte) []kept {
	var list []kept
	if json.Unmarshal(value, &list) != nil {
		return nil
	}
	return slices.DeleteFunc(list[max(0, len(list)-mostSources):], func(k kept) bool {
		return !k.sound() || r.models.Of(k.Model).Exact
	})
}

// sound reports whether save can have written k.
func (k kept) sound() bool {
	n := len(k.Recent)
	if n < leastAnswers || n > mostRecent || k.Answers < n || len(k.Upstream) > mostName || len(k.Model) > mostName {
		return false
	}
	odd := func(r float64) bool { return !(r >= leastRatio && r <= mostRatio) } // nor what is not a number
	return !odd(k.Ratio) && !slices.ContainsFunc(k.Recent, odd)
}
