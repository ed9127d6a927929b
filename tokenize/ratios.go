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

// Ratios are what answers have shown of models whose vocabulary is not known here, for each upstream and model: how
// many tokens the provider counts for one that is counted here. A ratio is the median of what the newest answers say,
// and changes in steps, so that limits do not move with every answer. Make one with NewRatios; its methods may be
// called from any goroutine.
type Ratios struct {
	models Models
	keeper Keeper // nil: they end with the process

	some    atomic.Bool // a ratio holds; until then nothing is looked up
	mu      sync.RWMutex
	sources map[source]*learned // at most mostSources
	taught  uint64              // answers that have taught any source
	saving  sync.Mutex          // held while the keeper is given what stands in sources
}

// source is one model at one upstream, by the very names that requests have for them.
type source struct{ upstream, model string }

// learned is what is known of a source.
type learned struct {
	ratio   float64   // that holds; 0 until there are enough answers
	answers int       // that have taught it
	recent  []float64 // what the newest answers say, the oldest first
	latest  uint64    // of Ratios.taught, when it was taught last

	counted, used int // of the largest request, by the provider's count
}

const (
	leastCounted = 1_000 // tokens of a request below which the provider's own wrapping drowns the rest
	leastAnswers = 3     // before which no ratio holds: one answer alone moves nothing
	mostRecent   = 9     // answers of which the median is taken: it takes five that are wrong to move it
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
	r := &Ratios{models: models, keeper: k, sources: map[source]*learned{}}
	if k == nil {
		return r
	}
	if value, found := k.Get(ratiosKey); found {
		r.restore(value)
	}
	return r
}

// Of is the ratio that answers have shown, and how many they were; 0 if too few have. It costs no allocation.
func (r *Ratios) Of(upstream, model string) (ratio float64, answers int) {
	if !r.some.Load() {
		return 0, 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if known, ok := r.sources[source{upstream, model}]; ok && known.ratio > 0 {
		return known.ratio, known.answers
	}
	return 0, 0
}

// Learn takes an answer to a request of counted tokens, without any ratio, of which the provider says that it had used.
// counted must be of exactly what was sent. Small requests and figures that cannot be right teach nothing, and neither
// do models whose own vocabulary is known.
func (r *Ratios) Learn(upstream, model string, counted, used int) {
	if counted < leastCounted || used <= 0 || len(upstream) > mostName || len(model) > mostName {
		return
	}
	m := r.models.Of(model)
	says := float64(used) / float64(counted)
	if m.Exact || says < m.Ratio*leastShare || says < leastRatio || says > mostRatio {
		return
	}
	r.mu.Lock()
	keep := r.of(source{upstream, model}).learn(counted, used, r.taught)
	r.mu.Unlock()
	if keep {
		r.some.Store(true)
		r.save()
	}
}

// Forget takes back what was learned of a model: its answers turn out to be about less than what was sent.
func (r *Ratios) Forget(upstream, model string) {
	s := source{upstream, model}
	r.mu.Lock()
	known, ok := r.sources[s]
	delete(r.sources, s)
	r.mu.Unlock()
	if ok && known.ratio > 0 {
		r.save()
	}
}

// of is what is known of a source that is being taught. Where there is no room, the one that was taught longest ago
// makes some. r.mu is held.
func (r *Ratios) of(s source) *learned {
	r.taught++
	if known, ok := r.sources[s]; ok {
		return known
	}
	if len(r.sources) >= mostSources {
		delete(r.sources, r.oldest())
	}
	known := &learned{}
	// The names are copied: they may be parts of a whole request.
	r.sources[source{strings.Clone(s.upstream), strings.Clone(s.model)}] = known
	return known
}

// oldest is the source that was taught longest ago. r.mu is held.
func (r *Ratios) oldest() (s source) {
	first := uint64(math.MaxUint64)
	for other, known := range r.sources {
		if known.latest < first {
			s, first = other, known.latest
		}
	}
	return s
}

// learn takes one answer, and reports whether the source is to be kept as it is then. A request that is larger than the
// largest before, of which the provider counts no more, may have been cut.
func (l *learned) learn(counted, used int, now uint64) (keep bool) {
	l.latest = now
	if counted > l.counted && used <= l.used {
		return false
	}
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

// median is the middle one; of two, the larger one, with which more room is left.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// kept is a source as it is kept.
type kept struct {
	Upstream string    `json:"upstream"`
	Model    string    `json:"model"`
	Ratio    float64   `json:"ratio"`
	Answers  int       `json:"answers"`
	Recent   []float64 `json:"recent"`
}

// save gives all ratios that hold to the keeper. What it does not take is learned again.
func (r *Ratios) save() {
	if r.keeper == nil {
		return
	}
	r.saving.Lock()
	defer r.saving.Unlock()
	value, err := json.Marshal(r.all())
	if err == nil {
		_ = r.keeper.Put(ratiosKey, value, keepRatios)
	}
}

// all are the sources that have a ratio, the one that was taught longest ago first.
func (r *Ratios) all() []kept {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var held []source
	for s, known := range r.sources {
		if known.ratio > 0 {
			held = append(held, s)
		}
	}
	slices.SortFunc(held, func(a, b source) int { return cmp.Compare(r.sources[a].latest, r.sources[b].latest) })
	list := make([]kept, 0, len(held))
	for _, s := range held {
		known := r.sources[s]
		list = append(list, kept{s.upstream, s.model, known.ratio, known.answers, slices.Clone(known.recent)})
	}
	return list
}

// restore takes what was kept. It may be damaged, or of a table of models that was another one.
func (r *Ratios) restore(value []byte) {
	var list []kept
	if json.Unmarshal(value, &list) != nil {
		return
	}
	for _, k := range list[max(0, len(list)-mostSources):] {
		if k.sound() && !r.models.Of(k.Model).Exact {
			r.taught++
			known := &learned{ratio: k.Ratio, answers: k.Answers, recent: k.Recent, latest: r.taught}
			r.sources[source{k.Upstream, k.Model}] = known
		}
	}
	r.some.Store(len(r.sources) > 0)
}

// sound reports whether a source can have been kept so.
func (k kept) sound() bool {
	n := len(k.Recent)
	if n < leastAnswers || n > mostRecent || k.Answers < n || len(k.Upstream) > mostName || len(k.Model) > mostName {
		return false
	}
	odd := func(r float64) bool { return !(r >= leastRatio && r <= mostRatio) } // nor what is not a number
	return !odd(k.Ratio) && !slices.ContainsFunc(k.Recent, odd)
}
