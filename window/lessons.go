package window

import (
	"encoding/json"
	"strings"
	"sync"
	"time"
)

// Keeper keeps what was learned over a restart.
type Keeper interface {
	// Get returns what was put under the key, unless its time is over.
	Get(key string) (value []byte, found bool)
	// Put sets the value under the key for the time of keep.
	Put(key string, value []byte, keep time.Duration) error
}

// Lessons are windows that traffic has shown, for each upstream and model: what a refusal states or suggests, what a
// server that cuts requests seems to have, and what a server answers when it is asked. They end by themselves, and are
// taken back when a larger request is answered. Make them with NewLessons. Safe for concurrent use.
type Lessons struct {
	keeper Keeper // nil: they end with the process
	now    func() time.Time
	shared bool // others change what the keeper has

	saving sync.Mutex // held while what is kept changes
	mu     sync.Mutex
	models map[question]*known // at most mostKnown
}

// known is what traffic has shown about one model at one upstream.
type known struct {
	learned, probed lesson
	largest         int // tokens of the largest request that was answered
	cut             Cut // what the first request showed that seemed to be cut to its size, until one disproves it
}

// lesson is a window, for a time; without tokens it is none.
type lesson struct {
	Tokens int       `json:"tokens"`
	Until  time.Time `json:"until"`
	Stated bool      `json:"stated,omitempty"` // by the provider, and not derived from what it did
	Ours   bool      `json:"ours,omitempty"`   // Tokens are of our own count, and not of the provider's
}

const (
	mostKnown   = 256
	keepStated  = 24 * time.Hour
	keepGuessed = time.Hour
	lessonsKey  = "window/lessons"
)

// NewLessons begins with what the keeper has from an earlier run.
func NewLessons(k Keeper, now func() time.Time) *Lessons {
	l := &Lessons{keeper: k, now: now, models: map[question]*known{}}
	l.Refresh()
	return l
}

// Share says, before the lessons are used, that others change what the keeper has: Refresh takes over what they have
// learned.
func (l *Lessons) Share() { l.shared = true }

// Refresh takes over what the keeper has. What cannot be read changes nothing. Of two that learn at the same moment,
// one may have to learn again.
func (l *Lessons) Refresh() {
	if l.keeper == nil {
		return
	}
	value, found := l.keeper.Get(lessonsKey)
	var rows []row
	if !found || json.Unmarshal(value, &rows) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.models {
		k.learned, k.probed = lesson{}, lesson{}
	}
	for _, r := range rows {
		if n := r.lesson; !l.holds(n) || n.Tokens < Least || n.Tokens > Most || n.Until.After(l.now().Add(keepStated)) ||
			len(r.Upstream) > maxName || len(r.Model) > maxName {
			continue // it is damaged, or of a clock that went wrong
		}
		if k := l.of(question{r.Upstream, r.Model}); r.Probed {
			k.probed = r.lesson
		} else {
			k.learned = r.lesson
		}
	}
}

// row is a lesson as it is kept.
type row struct {
	Upstream string `json:"upstream"`
	Model    string `json:"model"`
	Probed   bool   `json:"probed,omitempty"`
	lesson
}

// change lets edit change what is known, and keeps it if edit reports that it has. edit has l.mu.
func (l *Lessons) change(edit func() bool) (changed bool) {
	l.saving.Lock()
	defer l.saving.Unlock()
	if l.shared {
		l.Refresh()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if changed = edit(); !changed || l.keeper == nil {
		return changed
	}
	rows := []row{}
	for q, k := range l.models {
		if l.holds(k.learned) {
			rows = append(rows, row{q.upstream, q.model, false, k.learned})
		}
		if l.holds(k.probed) {
			rows = append(rows, row{q.upstream, q.model, true, k.probed})
		}
	}
	if value, err := json.Marshal(rows); err == nil {
		_ = l.keeper.Put(lessonsKey, value, keepStated) // what is not kept is learned again
	}
	return changed
}

func (l *Lessons) holds(n lesson) bool { return n.Tokens > 0 && l.now().Before(n.Until) }

// of returns what is known about a model, to be changed. Where there is no room, models without a lesson make some, or
// else one of the others. The caller holds l.mu.
func (l *Lessons) of(q question) *known {
	if k, ok := l.models[q]; ok {
		return k
	}
	for other, k := range l.models {
		if len(l.models) >= mostKnown && !l.holds(k.learned) && !l.holds(k.probed) {
			delete(l.models, other)
		}
	}
	for other := range l.models {
		if len(l.models) < mostKnown {
			break
		}
		delete(l.models, other)
	}
	k := &known{}
	l.models[question{strings.Clone(q.upstream), strings.Clone(q.model)}] = k // q may be parts of a whole request
	return k
}

// LearnRefusal learns from a refusal whose request was accepted once it was smaller: the window that it states, or
// else, if the request was too long by our count, that the window is a little smaller than the request. It returns
// what was learned; ok reports that this is news, which deserves a warning.
func (l *Lessons) LearnRefusal(upstream, model string, r Refusal, s Sent) (tokens int, ok bool) {
	n := lesson{Tokens: s.Tokens - s.Tokens/20, Ours: true}
	switch {
	case r.Cause != Input && r.Cause != Output:
		return 0, false
	case r.Below(s.Window):
		n = lesson{Tokens: r.Limit, Stated: true}
	case r.Cause == Output:
		return 0, false
	}
	return n.Tokens, l.learn(question{upstream, model}, n, s.Window)
}

// LearnCut learns that a server has cut a request. It takes two such requests, the second of which confirms the first,
// and none that was answered with more: some servers leave out of their count what they had cached.
func (l *Lessons) LearnCut(upstream, model string, cut Cut, believed int) (ok bool) {
	q := question{upstream, model}
	if !l.repeatsCut(q, cut) {
		return false
	}
	return l.learn(q, lesson{Tokens: cut.Size}, believed)
}

func (l *Lessons) repeatsCut(q question, cut Cut) bool {
	if q.isLong() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.of(q)
	if cut.Confirms(k.cut) {
		return k.largest <= cut.Size
	}
	if k.cut.Size != cut.Size {
		k.cut = cut
	}
	return false
}

// learn takes a window that is below the one believed. What a provider has stated, a guess replaces only by less.
func (l *Lessons) learn(q question, n lesson, believed int) (ok bool) {
	if n.Tokens < Least || n.Tokens > Most || believed > 0 && n.Tokens >= believed || q.isLong() {
		return false
	}
	n.Until = l.now().Add(keepGuessed)
	if n.Stated {
		n.Until = l.now().Add(keepStated)
	}
	return l.change(func() bool {
		k := l.of(q)
		if l.holds(k.learned) && !n.Stated && n.Tokens >= k.learned.Tokens {
			return false
		}
		k.learned = n
		return true
	})
}

// Probe takes what a server answers when it is asked; 0 forgets what it answered before.
func (l *Lessons) Probe(upstream, model string, tokens int) {
	q := question{upstream, model}
	if tokens != 0 && (tokens < Least || tokens > Most) || q.isLong() {
		return
	}
	var n lesson
	if tokens > 0 {
		n = lesson{Tokens: tokens, Until: l.now().Add(keepStated), Stated: true}
	}
	l.change(func() bool {
		k := l.of(q)
		if k.probed.Tokens == n.Tokens && n.Until.Sub(k.probed.Until) < keepStated/4 {
			return false
		}
		k.probed = n
		return true
	})
}

// Unprobe forgets what servers have answered, but for the upstreams that are still asked.
func (l *Lessons) Unprobe(asked func(upstream string) bool) {
	l.change(func() (changed bool) {
		for q, k := range l.models {
			if k.probed.Tokens > 0 && !asked(q.upstream) {
				k.probed, changed = lesson{}, true
			}
		}
		return changed
	})
}

// LearnAnswer takes lessons back that the answer to a request proves wrong, which has counted tokens by our own count,
// and used by the provider's, if it tells that. It returns the window that was taken back, or to which the last request
// had seemed to be cut; 0 if there was none.
func (l *Lessons) LearnAnswer(upstream, model string, counted, used int) (refuted int) {
	q := question{upstream, model}
	if q.isLong() {
		return 0
	}
	tokens := used
	if tokens <= 0 {
		tokens = counted - counted/10
	}
	isWrong := func(n lesson) bool {
		if n.Ours {
			return l.holds(n) && counted > n.Tokens
		}
		return l.holds(n) && tokens > n.Tokens
	}
	// A small request tells little of how the provider counts, and one that counts less may leave out what was cached.
	tellsUnit := func(n lesson) bool { return n.Ours && l.holds(n) && used > counted && counted >= n.Tokens/4 }
	l.mu.Lock()
	k := l.of(q)
	k.largest = max(k.largest, tokens)
	if tokens > k.cut.Size { // to so many it was not cut, whatever the next answer counts
		refuted, k.cut = k.cut.Size, Cut{}
	}
	isNews := isWrong(k.learned) || isWrong(k.probed) || tellsUnit(k.learned)
	l.mu.Unlock()
	if !isNews {
		return refuted
	}
	l.change(func() (changed bool) {
		k := l.of(q)
		for _, n := range []*lesson{&k.learned, &k.probed} {
			if isWrong(*n) {
				refuted, *n, changed = max(refuted, n.Tokens), lesson{}, true
			}
		}
		if n := &k.learned; tellsUnit(*n) {
			n.Tokens, n.Ours, changed = min(int(int64(n.Tokens)*int64(used)/int64(counted)), Most), false, true
		}
		return changed
	})
	return refuted
}

// current returns what holds for a model now; 0 is nothing.
func (l *Lessons) current(q question) (learned, probed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.models[q]
	if !ok {
		return 0, 0
	}
	if l.holds(k.learned) {
		learned = k.learned.Tokens
	}
	if l.holds(k.probed) {
		probed = k.probed.Tokens
	}
	return learned, probed
}
