package tokenize

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"epitome/store"
)

// Ratios are what answers have shown of models whose vocabulary is not known here, for each source: how many tokens the
// provider counts for one that is counted here. A ratio is the median of what the newest answers say, and changes in
// steps, so that limits do not move with every answer. Make one with NewRatios. Safe for concurrent use.
type Ratios struct {
	models Models
	store  store.Store // nil: they end with the process
	now    func() time.Time

	mu      sync.Mutex
	sources map[Source]*learned // at most mostSources
}

// Source is one model at one upstream, asked in one dialect, by the very names that requests have for them. Dialects
// frame the same words with other tokens. Each is named by its key; that of Chat Completions is empty.
type Source struct{ Upstream, Model, Dialect string }

func (s Source) key() string { return "ratio/" + s.Upstream + "\x00" + s.Model + "\x00" + s.Dialect }

// learned is what is known of a source.
type learned struct {
	Ratio   float64   `json:"ratio"`   // that holds; 0 until there are enough answers
	Answers int       `json:"answers"` // that have taught it
	Recent  []float64 `json:"recent"`  // what the newest answers say, the oldest first

	read          time.Time // when the store was read
	counted, used int       // of the largest request, by the provider's count; 0 if there is none to hold others against
	doubted       int       // answers in a row that taught nothing, held against it
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
	storeEvery   = 64   // answers after which a ratio that does not move is stored again
	mostSources  = 256
	mostName     = 256 // bytes of a name; nothing is learned of longer ones
	keepRatios   = 30 * 24 * time.Hour
	readEvery    = 5 * time.Second // others may learn into the same store
)

// NewRatios makes Ratios that go on from what an earlier run has learned into the store, which may be nil.
func NewRatios(s store.Store, models Models, now func() time.Time) *Ratios {
	return &Ratios{models: models, store: s, now: now, sources: map[Source]*learned{}}
}

// of returns what is known of a source; nil if nothing can be learned of it. The caller holds r.mu.
func (r *Ratios) of(s Source) *learned {
	l := r.sources[s]
	if l == nil {
		if len(s.Upstream) > mostName || len(s.Model) > mostName || r.models.Of(s.Model).Exact {
			return nil
		}
		if len(r.sources) >= mostSources { // names that are made up must not push out what real ones taught
			maps.DeleteFunc(r.sources, func(_ Source, l *learned) bool { return l.Ratio == 0 })
		}
		if len(r.sources) >= mostSources {
			clear(r.sources)
		}
		l = &learned{}
		// The names are copied: they may be parts of a whole request.
		r.sources[Source{strings.Clone(s.Upstream), strings.Clone(s.Model), s.Dialect}] = l
	}
	if now := r.now().Round(0); r.store != nil && now.Sub(l.read).Abs() >= readEvery {
		l.read = now
		var stored learned
		value, found, _ := r.store.Get(s.key())
		if found && json.Unmarshal(value, &stored) == nil && stored.isSound() && stored.Answers > l.Answers {
			l.Ratio, l.Answers, l.Recent = stored.Ratio, stored.Answers, stored.Recent
		}
	}
	return l
}

// isSound reports whether what was read is not damaged.
func (l *learned) isSound() bool {
	n := len(l.Recent)
	isOdd := func(ratio float64) bool { return !(ratio >= leastRatio && ratio <= mostRatio) } // nor what is not a number
	return n >= leastAnswers && n <= mostRecent && l.Answers >= n && !isOdd(l.Ratio) && !slices.ContainsFunc(l.Recent, isOdd)
}

// Of returns the ratio that answers have shown, and how many answers; 0 if there were too few.
func (r *Ratios) Of(s Source) (ratio float64, answers int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.of(s); l != nil && l.Ratio > 0 {
		return l.Ratio, l.Answers
	}
	return 0, 0
}

// Learn takes what an answer shows: the request had counted tokens, without any ratio, and the provider says that it
// had used. counted must be of exactly what was sent. Small requests and figures that cannot be right teach nothing,
// and neither do models whose own vocabulary is known.
func (r *Ratios) Learn(s Source, counted, used int) {
	ratio := float64(used) / float64(counted)
	if counted < leastCounted || ratio < max(leastRatio, leastShare*r.models.Of(s.Model).Ratio) || ratio > mostRatio {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.of(s)
	if l == nil || !l.learn(counted, used) || r.store == nil {
		return
	}
	if value, err := json.Marshal(l); err == nil {
		_ = r.store.Put(s.key(), value, keepRatios) // what is not stored is learned again
	}
}

// learn takes one answer, and reports whether the source is to be stored as it is then. A request that is larger than
// the largest before, although the provider counts no more, may have been cut, unless all that come say so.
func (l *learned) learn(counted, used int) (store bool) {
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
	sorted := slices.Sorted(slices.Values(l.Recent))
	median := sorted[len(sorted)/2] // of two, the larger one, which leaves more room in the window
	if l.Ratio == 0 || math.Abs(median-l.Ratio) > leastStep*l.Ratio {
		l.Ratio, store = median, true
	}
	return store || l.Answers%storeEvery == 0
}
