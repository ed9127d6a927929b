package tokenize

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
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
// provider counts for one that is counted here. A ratio is the median of what the newest answers say, and changes in
// steps, so that limits do not move with every answer. Make one with NewRatios. Safe for concurrent use.
type Ratios struct {
	models Models
	keeper Keeper // nil: they end with the process
	shared bool   // others change what the keeper has

	saving  sync.Mutex // held while the keeper is given what stands in sources
	mu      sync.RWMutex
	sources map[Source]*learned // at most mostSources
	answers uint64              // of all sources
}

// Source is one model at one upstream, asked in one dialect, by the very names that requests have for them. Dialects
// frame the same words with other tokens. Each is named by its key; that of Chat Completions is empty.
type Source struct {
	Upstream string `json:"upstream"`
	Model    string `json:"model"`
	Dialect  string `json:"dialect,omitempty"`
}

// learned is what is known of a source.
type learned struct {
	Ratio   float64   `json:"ratio"`   // that holds; 0 until there are enough answers
	Answers int       `json:"answers"` // that have taught it
	Recent  []float64 `json:"recent"`  // what the newest answers say, the oldest first

	latest        uint64 // of Ratios.answers, when it was taught last
	counted, used int    // of the largest request, by the provider's count; 0 if there is none to hold others against
	doubted       int    // answers in a row that taught nothing, held against it
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
	r.Refresh()
	return r
}

// Share says, before the ratios are used, that others change what the keeper has: Refresh takes over what they have
// learned, and what is kept has that in it.
func (r *Ratios) Share() { r.shared = true }

// row is a source as it is kept.
type row struct {
	Source
	learned
}

// Refresh takes over, of each source, what more answers have taught to others.
func (r *Ratios) Refresh() {
	if r.keeper == nil {
		return
	}
	value, found := r.keeper.Get(ratiosKey)
	var rows []row
	if !found || json.Unmarshal(value, &rows) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range rows[:min(len(rows), mostSources)] {
		if !k.isSound() || r.models.Of(k.Model).Exact { // it is damaged, or of another table of models
			continue
		}
		if known := r.of(k.Source); k.Answers > known.Answers {
			known.Ratio, known.Answers, known.Recent = k.Ratio, k.Answers, k.Recent
		}
	}
}

// isSound reports whether save can have written the row.
func (k row) isSound() bool {
	n := len(k.Recent)
	odd := func(r float64) bool { return !(r >= leastRatio && r <= mostRatio) } // nor what is not a number
	return n >= leastAnswers && n <= mostRecent && k.Answers >= n && !k.isLong() && !odd(k.Ratio) &&
		!slices.ContainsFunc(k.Recent, odd)
}

func (s Source) isLong() bool { return len(s.Upstream) > mostName || len(s.Model) > mostName }

// Of returns the ratio that answers have shown, and how many answers; 0 if there were too few.
func (r *Ratios) Of(s Source) (ratio float64, answers int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if known, ok := r.sources[s]; ok && known.Ratio > 0 {
		return known.Ratio, known.Answers
	}
	return 0, 0
}

// Learn takes what an answer shows: the request had counted tokens, without any ratio, and the provider says that it
// had used. counted must be of exactly what was sent. Small requests and figures that cannot be right teach nothing,
// and neither do models whose own vocabulary is known.
func (r *Ratios) Learn(s Source, counted, used int) {
	if counted < leastCounted || used <= 0 || s.isLong() {
		return
	}
	m := r.models.Of(s.Model)
	says := float64(used) / float64(counted)
	if m.Exact || says < m.Ratio*leastShare || says < leastRatio || says > mostRatio {
		return
	}
	r.mu.Lock()
	keep := r.of(s).learn(counted, used)
	r.mu.Unlock()
	if keep {
		r.save()
	}
}

// Forget drops what was learned of a model: its answers turn out to be about less than what was sent.
func (r *Ratios) Forget(s Source) {
	r.mu.Lock()
	known, ok := r.sources[s]
	delete(r.sources, s)
	r.mu.Unlock()
	if ok && known.Ratio > 0 {
		r.save()
	}
}

// of returns what is known of a source that is being taught. If there is no room, it drops a source without a ratio,
// else the one that was taught longest ago: made-up names must not push out what real ones taught. The caller holds
// r.mu.
func (r *Ratios) of(s Source) *learned {
	r.answers++
	known, ok := r.sources[s]
	if !ok {
		if len(r.sources) >= mostSources {
			var first *learned
			var name Source
			for other, l := range r.sources {
				goes := first == nil || (l.Ratio > 0) == (first.Ratio > 0) && l.latest < first.latest
				if goes || l.Ratio == 0 && first.Ratio > 0 {
					name, first = other, l
				}
			}
			delete(r.sources, name)
		}
		known = &learned{}
		// The names are copied: they may be parts of a whole request.
		r.sources[Source{strings.Clone(s.Upstream), strings.Clone(s.Model), s.Dialect}] = known
	}
	known.latest = r.answers
	return known
}

// learn takes one answer, and reports whether the keeper needs the source as it is then. A request that is larger than
// the largest before, although the provider counts no more, may have been cut, unless all that come say so.
func (l *learned) learn(counted, used int) (keep bool) {
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
	l.Answers++
	l.Recent = append(l.Recent, float64(used)/float64(counted))
	l.Recent = l.Recent[max(0, len(l.Recent)-mostRecent):]
	if len(l.Recent) < leastAnswers {
		return false
	}
	middle := median(l.Recent)
	if l.Ratio == 0 || math.Abs(middle-l.Ratio) > leastStep*l.Ratio {
		l.Ratio, keep = middle, true
	}
	return keep || l.Answers%keepEvery == 0
}

// median returns the middle of list; of two, the larger one, which leaves more room in the window.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
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
	rows := []row{}
	r.mu.RLock()
	for s, known := range r.sources {
		if known.Ratio > 0 {
			rows = append(rows, row{s, *known})
		}
	}
	value, err := json.Marshal(rows) // within the lock: Recent is changed in place
	r.mu.RUnlock()
	if err == nil {
		_ = r.keeper.Put(ratiosKey, value, keepRatios)
	}
}
