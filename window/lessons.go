package window

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Keeper keeps the lessons over a restart.
type Keeper interface {
	// Get returns what was put under the key, unless its time is over. Another value has another version.
	Get(key string) (value []byte, version uint64, found bool)
	// Put sets the value under the key for the time of keep.
	Put(key string, value []byte, keep time.Duration) error
	// Swap does so if what stands there has the version, or if nothing does and that is 0.
	Swap(key string, version uint64, value []byte, keep time.Duration) (swapped bool, err error)
}

// Lessons are windows that use has shown, for each upstream and model: what a refusal states or suggests, what a
// server that cuts requests seems to have, what a server says of itself when it is asked. They end by themselves, and
// are taken back when a request that is larger is answered. Make one with NewLessons; its methods may be called from
// any goroutine.
type Lessons struct {
	keeper Keeper // nil: they end with the process
	now    func() time.Time

	some   atomic.Bool // there are lessons; until then nothing is looked up
	mu     sync.RWMutex
	taught map[question]taught // at most mostTaught
	counts map[question]count  // likewise
	saving sync.Mutex          // held while taught is changed and the keeper is given it
	shared bool                // others change what the keeper has

	version uint64 // of what the keeper had when it was read last; used if shared, under saving
}

// taught is what is known of one model at one upstream. A lesson without tokens is none.
type taught struct{ learned, probed lesson }

// lesson is a window, for a time.
type lesson struct {
	tokens int
	until  time.Time
	stated bool // by the provider, and not derived from what it did
}

const (
	mostTaught  = 256
	keepStated  = 24 * time.Hour
	keepGuessed = time.Hour
	lessonsKey  = "window/lessons"
)

// NewLessons begins with what the keeper has from an earlier run.
func NewLessons(k Keeper, now func() time.Time) *Lessons {
	l := &Lessons{keeper: k, now: now, taught: map[question]taught{}, counts: map[question]count{}}
	if k == nil {
		return l
	}
	if value, _, found := k.Get(lessonsKey); found {
		l.taught = l.restored(value)
		l.some.Store(len(l.taught) > 0)
	}
	return l
}

// Share says, before the lessons are used, that others change what the keeper has. Lessons are then learned on top of
// what it has, and Refresh takes over what others have learned.
func (l *Lessons) Share() { l.shared = true }

// Refresh takes over what others have learned. What cannot be read changes nothing.
func (l *Lessons) Refresh() {
	l.saving.Lock()
	defer l.saving.Unlock()
	l.refresh()
}

// refresh does what Refresh does. The caller holds l.saving.
func (l *Lessons) refresh() {
	value, version, found := l.keeper.Get(lessonsKey)
	if l.version = version; !found {
		return
	}
	theirs := l.restored(value)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taught = theirs
	l.some.Store(len(theirs) > 0)
}

// LearnRefusal learns from a refusal: the window that it states, or else, if the request was too long by our count,
// that the window is a little smaller than the request. It returns what was learned; ok says that this is news, which
// deserves a warning.
func (l *Lessons) LearnRefusal(upstream, model string, r Refusal, s Sent) (tokens int, ok bool) {
	switch {
	case r.Cause != Input && r.Cause != Output:
		return 0, false
	case r.Below(s.Window):
		return r.Limit, l.learn(question{upstream, model}, lesson{tokens: r.Limit, stated: true}, s.Window)
	case r.Cause == Input:
		tokens = s.Tokens - s.Tokens/20
		return tokens, l.learn(question{upstream, model}, lesson{tokens: tokens}, s.Window)
	}
	return 0, false
}

// LearnCut learns that a server has cut a request. It takes two such requests, the second of which confirms the first,
// and none that was answered with more: some servers leave out of their count what they had cached.
func (l *Lessons) LearnCut(upstream, model string, cut Cut, believed int) (ok bool) {
	if !l.repeatsCut(question{upstream, model}, cut) {
		return false
	}
	return l.learn(question{upstream, model}, lesson{tokens: cut.Size}, believed)
}

// Probe takes what a server says of itself when it is asked; 0 forgets what it said before.
func (l *Lessons) Probe(upstream, model string, tokens int) {
	if tokens != 0 && (tokens < Least || tokens > Most) {
		return
	}
	var said lesson
	if tokens > 0 {
		said = lesson{tokens: tokens, until: l.now().Add(keepStated), stated: true}
	}
	l.change(question{upstream, model}, func(t *taught) bool {
		same := t.probed.tokens == said.tokens && said.until.Sub(t.probed.until) < keepStated/4
		if !same {
			t.probed = said
		}
		return !same
	})
}

// Unprobe forgets what servers have said of themselves, but for the upstreams that are still asked.
func (l *Lessons) Unprobe(asked func(upstream string) bool) {
	l.edit(func() (changed bool) {
		for q, t := range l.taught {
			if t.probed != (lesson{}) && !asked(q.upstream) {
				t.probed, changed = lesson{}, true
				l.set(q, t, true)
			}
		}
		return changed
	})
}

// LearnAnswer takes lessons back that a request which was answered proves wrong. tokens are the provider's own count
// of it: a server that cuts requests answers larger ones too, by ours. refuted is the window that was taken back, or
// to which the last request had seemed to be cut; 0 if there was none.
func (l *Lessons) LearnAnswer(upstream, model string, tokens int) (refuted int) {
	q := question{upstream, model}
	refuted = l.noteLargest(q, tokens)
	learned, probed := l.current(q)
	if (learned == 0 || tokens <= learned) && (probed == 0 || tokens <= probed) {
		return refuted
	}
	l.change(q, func(t *taught) bool {
		before := *t
		if tokens > t.learned.tokens {
			t.learned, refuted = lesson{}, max(refuted, learned)
		}
		if tokens > t.probed.tokens {
			t.probed, refuted = lesson{}, max(refuted, probed)
		}
		return *t != before
	})
	return refuted
}

// count is what a server has counted of one model's requests.
type count struct {
	largest int // tokens of the largest request
	cut     Cut // what the first request showed that seemed to be cut to its size, until one disproves it
}

// repeatsCut reports whether a cut confirms one that was seen before, and nothing speaks against it.
func (l *Lessons) repeatsCut(q question, cut Cut) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.counts[q]
	if cut.Confirms(c.cut) {
		return c.largest <= cut.Size
	}
	if c.cut.Size != cut.Size {
		c.cut = cut
		l.setCountLocked(q, c)
	}
	return false
}

// noteLargest notes how large a request was that was answered. refuted is to how many tokens the last request had
// seemed to be cut, if this one has more; 0 if none had, or it has not.
func (l *Lessons) noteLargest(q question, tokens int) (refuted int) {
	l.mu.RLock()
	c := l.counts[q]
	l.mu.RUnlock()
	if tokens <= c.largest && (c.cut.Size == 0 || tokens <= c.cut.Size) {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c = l.counts[q]
	c.largest = max(c.largest, tokens)
	if tokens > c.cut.Size { // to so many it was not cut, whatever the next answer counts
		refuted, c.cut = c.cut.Size, Cut{}
	}
	l.setCountLocked(q, c)
	return refuted
}

// setCountLocked keeps a count. When there is no room, all are forgotten.
func (l *Lessons) setCountLocked(q question, c count) {
	if len(q.upstream) > maxName || len(q.model) > maxName {
		return
	}
	if _, known := l.counts[q]; !known && len(l.counts) >= mostTaught {
		clear(l.counts)
	}
	l.counts[question{strings.Clone(q.upstream), strings.Clone(q.model)}] = c
}

// learn takes a window that is below the one believed. What a provider has stated, a guess replaces only by less.
func (l *Lessons) learn(q question, n lesson, believed int) (ok bool) {
	if n.tokens < Least || n.tokens > Most || believed > 0 && n.tokens >= believed {
		return false
	}
	now := l.now()
	n.until = now.Add(keepGuessed)
	if n.stated {
		n.until = now.Add(keepStated)
	}
	return l.change(q, func(t *taught) bool {
		if old := t.learned; old.holds(now) && !n.stated && n.tokens >= old.tokens {
			return false
		}
		t.learned = n
		return true
	})
}

func (n lesson) holds(now time.Time) bool { return n.tokens > 0 && now.Before(n.until) }

// current is what holds for a model now; 0 is nothing. It costs no allocation.
func (l *Lessons) current(q question) (learned, probed int) {
	if !l.some.Load() {
		return 0, 0
	}
	l.mu.RLock()
	t, ok := l.taught[q]
	l.mu.RUnlock()
	if !ok {
		return 0, 0
	}
	now := l.now()
	if t.learned.holds(now) {
		learned = t.learned.tokens
	}
	if t.probed.holds(now) {
		probed = t.probed.tokens
	}
	return learned, probed
}

// change lets edit change what is known of a model, and keeps it if edit says that it has.
func (l *Lessons) change(q question, edit func(*taught) bool) (changed bool) {
	if len(q.upstream) > maxName || len(q.model) > maxName {
		return false
	}
	return l.edit(func() bool {
		t, known := l.taught[q]
		changed := edit(&t)
		if changed {
			l.set(q, t, known)
		}
		return changed
	})
}

// mostTies is how often a change is made again because somebody was faster. What is lost then is learned again.
const mostTies = 3

// edit has change change what is known, on top of what others have learned, and keeps it if change says that it has.
// change has l.mu.
func (l *Lessons) edit(change func() bool) (changed bool) {
	l.saving.Lock()
	defer l.saving.Unlock()
	for range mostTies {
		if l.shared {
			l.refresh()
		}
		l.mu.Lock()
		changed = change()
		l.mu.Unlock()
		if !changed || l.save() {
			break
		}
	}
	return changed
}

// set puts or takes away what is known of a model. Where there is no room, what ends first makes some.
func (l *Lessons) set(q question, t taught, known bool) {
	if t == (taught{}) {
		delete(l.taught, q)
		return
	}
	if !known && len(l.taught) >= mostTaught {
		var first question
		var end time.Time
		for other, o := range l.taught {
			if until := o.until(); end.IsZero() || until.Before(end) {
				first, end = other, until
			}
		}
		delete(l.taught, first)
	}
	// The names are copied: they may be parts of a whole request.
	l.taught[question{strings.Clone(q.upstream), strings.Clone(q.model)}] = t
	l.some.Store(true)
}

// until is when the last of both ends.
func (t taught) until() time.Time {
	if t.learned.until.After(t.probed.until) {
		return t.learned.until
	}
	return t.probed.until
}

// storedLesson is a lesson as it is kept.
type storedLesson struct {
	Upstream string    `json:"upstream"`
	Model    string    `json:"model"`
	Tokens   int       `json:"tokens"`
	Until    time.Time `json:"until"`
	Stated   bool      `json:"stated,omitempty"`
	Probed   bool      `json:"probed,omitempty"`
}

// save gives all lessons to the keeper. What it does not take is learned again. It returns false if somebody else was
// faster. The caller holds l.saving.
func (l *Lessons) save() bool {
	if l.keeper == nil {
		return true
	}
	now := l.now()
	all := []storedLesson{}
	l.mu.RLock()
	for q, t := range l.taught {
		if n := t.learned; n.holds(now) {
			all = append(all, storedLesson{q.upstream, q.model, n.tokens, n.until, n.stated, false})
		}
		if n := t.probed; n.holds(now) {
			all = append(all, storedLesson{q.upstream, q.model, n.tokens, n.until, n.stated, true})
		}
	}
	l.mu.RUnlock()
	value, err := json.Marshal(all)
	if err != nil {
		return true
	}
	if l.shared {
		swapped, err := l.keeper.Swap(lessonsKey, l.version, value, keepStated)
		return swapped || err != nil
	}
	_ = l.keeper.Put(lessonsKey, value, keepStated)
	return true
}

// restored are the lessons that were kept. They may be damaged, or of a clock that went wrong.
func (l *Lessons) restored(value []byte) map[question]taught {
	lessons := map[question]taught{}
	var all []storedLesson
	if json.Unmarshal(value, &all) != nil {
		return lessons
	}
	now := l.now()
	for _, k := range all {
		n := lesson{k.Tokens, k.Until, k.Stated}
		sound := n.tokens >= Least && n.tokens <= Most && n.holds(now) &&
			!n.until.After(now.Add(keepStated))
		if !sound || len(k.Upstream) > maxName || len(k.Model) > maxName || len(lessons) >= mostTaught {
			continue
		}
		q := question{k.Upstream, k.Model}
		t := lessons[q]
		if k.Probed {
			t.probed = n
		} else {
			t.learned = n
		}
		lessons[q] = t
	}
	return lessons
}
