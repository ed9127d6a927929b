package window

import (
	"encoding/json"
	"strings"
	"time"
)

// What is remembered, and for how long.
const (
	mostKnown   = 256
	maxName     = 256 // bytes: requests make up names
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

func (q id) key() string { return "window/" + q.upstream + "\x00" + q.model }

// known is what is known of one model at one upstream.
type known struct {
	learned lesson    // from refusals, and in the store
	probed  lesson    // from its server
	readAt  time.Time // when learned was read
	askAt   time.Time // when the server may be asked again
}

// lesson is a window, for a time; without tokens it is none.
type lesson struct {
	Tokens int       `json:"tokens"`
	Until  time.Time `json:"until"`
}

func (w *Windows) holds(n lesson) bool { return n.Tokens >= Least && w.now().Before(n.Until) }

// of returns what is known of a model, to be changed; nothing is kept of one whose name is too long. The caller holds
// w.mu.
func (w *Windows) of(q id) *known {
	k := w.known[q]
	if len(q.model) > maxName {
		return &known{askAt: w.now().Add(askAgain)}
	}
	if k == nil {
		if len(w.known) >= mostKnown {
			clear(w.known) // servers are asked again, and lessons are in the store
		}
		k = &known{}
		w.known[id{strings.Clone(q.upstream), strings.Clone(q.model)}] = k // they may be parts of a whole request
	}
	if now := w.now(); w.store != nil && now.Sub(k.readAt).Abs() >= readEvery {
		k.readAt = now
		var n lesson
		if fact, found := w.store.Get(q.key()); found && json.Unmarshal(fact.Bytes, &n) == nil {
			k.learned = n
		}
	}
	return k
}

// learn replaces the lesson of a model. The caller holds w.mu.
func (w *Windows) learn(q id, n lesson) {
	w.of(q).learned = n
	if value, err := json.Marshal(n); err == nil && w.store != nil {
		_, _ = w.store.Put(q.key(), value, keepStated) // what is not stored is learned again
	}
}

// LearnRefusal learns from a refusal whose request was accepted once it was smaller: the window that it states, or
// else, if the request was too long by our count, that the window is a little smaller than the request. It returns
// what was learned; ok reports that this is news, which deserves a warning.
func (w *Windows) LearnRefusal(upstream, model string, r Refusal, s Sent) (tokens int, ok bool) {
	believed := w.Of(upstream, model).Tokens
	tokens, keep := r.Limit, keepStated
	if r.Cause == Input && !r.Below(believed) {
		tokens, keep = s.Tokens-s.Tokens/20, keepGuessed
	}
	if tokens < Least || tokens >= believed || len(model) > maxName {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.learn(id{upstream, model}, lesson{tokens, w.now().Add(keep)})
	return tokens, true
}

// LearnAnswer takes a window back if an answered request had more tokens, by our count and by the provider's, and
// returns it; 0 is none. used is 0 if the provider does not say.
func (w *Windows) LearnAnswer(upstream, model string, counted, used int) (refuted int) {
	if used <= 0 {
		used = counted - counted/10 // we may count more than the provider
	}
	used = min(used, counted)
	w.mu.Lock()
	defer w.mu.Unlock()
	q := id{upstream, model}
	k := w.of(q)
	if w.holds(k.probed) && used > k.probed.Tokens {
		refuted, k.probed = k.probed.Tokens, lesson{}
	}
	if w.holds(k.learned) && used > k.learned.Tokens {
		refuted = max(refuted, k.learned.Tokens)
		w.learn(q, lesson{})
	}
	return refuted
}
