package tokenize

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"epitome/store"
)

// Ratios are learned from answers: how many tokens the provider counts for one that is counted here. A ratio is the
// median of what the newest answers say, and changes in steps, so that limits do not move with every answer. Its
// methods may be called from any goroutine.
type Ratios struct {
	store store.Store

	mu      sync.Mutex
	sources map[Source]*learned // at most maxSources
}

// Source is one model at one upstream, asked in one dialect, by the names that requests have for them. Dialects frame
// the same words with other tokens. Start names the beginning of a conversation if the model is Exact: its texts are
// counted right, so a ratio comes from what one conversation hides, such as reasoning, and no other one has it.
type Source struct{ Upstream, Model, Dialect, Start string }

func (s Source) key() string {
	return "ratio/" + s.Upstream + "\x00" + s.Model + "\x00" + s.Dialect + "\x00" + s.Start
}

// learned is what is known of a source.
type learned struct {
	Ratio   float64   `json:"ratio"`   // in force; 0 until there are enough answers
	Answers int       `json:"answers"` // that have taught it
	Recent  []float64 `json:"recent"`  // ratios of the newest answers, the oldest first
}

const (
	minCounted = 1_000 // tokens of a request: in a smaller one the provider's own wrapping drowns the rest
	minAnswers = 3     // before a ratio is in force: with three, a wrong one is not the middle
	maxRecent  = 9     // answers of which the median is taken: five wrong ones are needed to move it
	minShare   = 0.6   // of the model's own ratio: a provider that counts less has cut the request
	maxRatio   = 4.0   // answers that say more are taken to say this: it is nearer to the truth than none
	nearOne    = 0.05  // of an Exact model, which is then counted without a ratio: requests have wrappings
	minStep    = 0.02  // share by which the median differs from the ratio before it takes its place
	maxSources = 256
	maxName    = 256 // bytes of a name; nothing is learned of models with longer ones
	keepRatios = 30 * 24 * time.Hour
)

// NewRatios returns ratios that go on from those in the store, where an earlier run has put what it learned.
func NewRatios(s store.Store) *Ratios {
	return &Ratios{store: s, sources: map[Source]*learned{}}
}

// of returns what is known of a source. The caller holds r.mu.
func (r *Ratios) of(s Source) *learned {
	l := r.sources[s]
	if l != nil {
		return l
	}
	l = &learned{}
	if len(s.Model) > maxName {
		return l
	}
	if len(r.sources) >= maxSources {
		clear(r.sources) // those in use are read again
	}
	value, _ := store.Get(r.store, s.key())
	_ = json.Unmarshal(value, l)     // a value that cannot be read is learned anew
	s.Model = strings.Clone(s.Model) // which may be a part of a whole request
	r.sources[s] = l
	return l
}

// Of returns the ratio that answers have shown, and how many answers; 0 if there were too few, or if they agree with
// the counts of an Exact model.
func (r *Ratios) Of(s Source) (ratio float64, answers int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.of(s)
	if l.Ratio == 0 || s.Start != "" && math.Abs(l.Ratio-1) <= nearOne {
		return 0, 0
	}
	return l.Ratio, l.Answers
}

// Learn takes what an answer shows: the request had counted tokens, without any ratio, and the provider says that it
// had used. Small requests and figures that are too low teach nothing.
func (r *Ratios) Learn(s Source, counted, used int) {
	ratio := min(float64(used)/float64(counted), maxRatio)
	if counted < minCounted || ratio < minShare*ModelOf(s.Model).Ratio {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.of(s)
	if l.add(ratio) {
		value, _ := json.Marshal(l) // plain data
		if old, err := store.Get(r.store, s.key()); err == nil {
			_, _ = r.store.Swap(s.key(), old, value, keepRatios) // a ratio that is not stored is learned again
		}
	}
}

// add adds the ratio of one answer, and reports whether that changed the ratio in force.
func (l *learned) add(ratio float64) (changed bool) {
	l.Answers++
	l.Recent = append(l.Recent, ratio)
	l.Recent = l.Recent[max(0, len(l.Recent)-maxRecent):]
	if len(l.Recent) < minAnswers {
		return false
	}
	sorted := slices.Sorted(slices.Values(l.Recent))
	median := sorted[len(sorted)/2] // of two, the larger one, which leaves more room in the window
	if l.Ratio == 0 || math.Abs(median-l.Ratio) > minStep*l.Ratio {
		l.Ratio, changed = median, true
	}
	return changed
}
