package window

import (
	"encoding/json"
	"strings"
	"time"
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
	Ours   bool      `json:"ours"` // a guess from a request, by our own count; others are stated, by the provider's
}

const (
	mostKnown   = 256
	maxName     = 256 // bytes: requests make up names
	keepStated  = 24 * time.Hour
	keepGuessed = time.Hour
	readEvery   = 5 * time.Second // others may learn into the same store
)

func (w *Windows) holds(n lesson) bool { return n.Tokens >= Least && w.now().Before(n.Until) }

// of returns what is known of a model, to be changed; nil if its name is too long. The caller holds w.mu.
func (w *Windows) of(q id) *known {
	k := w.known[q]
	switch {
	case len(q.upstream) > maxName || len(q.model) > maxName:
		return nil
	case k == nil:
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
func (w *Windows) learn(q id, k *known, n lesson) {
	k.learned = n
	if value, err := json.Marshal(n); err == nil && w.store != nil {
		_, _ = w.store.Put(q.key(), value, keepStated) // what is not stored is learned again
	}
}

// LearnRefusal learns from a refusal whose request was accepted once it was smaller: the window that it states, or
// else, if the request was too long by our count, that the window is a little smaller than the request. It returns
// what was learned; ok reports that this is news, which deserves a warning.
func (w *Windows) LearnRefusal(upstream, model string, r Refusal, s Sent) (tokens int, ok bool) {
	n := lesson{Tokens: s.Tokens - s.Tokens/20, Until: w.now().Add(keepGuessed), Ours: true}
	switch {
	case (r.Cause == Input || r.Cause == Output) && r.Below(s.Window):
		n = lesson{Tokens: r.Limit, Until: w.now().Add(keepStated)}
	case r.Cause != Input:
		return 0, false
	}
	if n.Tokens < Least || n.Tokens > Most || s.Window > 0 && n.Tokens >= s.Window {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	q := id{upstream, model}
	k := w.of(q)
	if k == nil || n.Ours && w.holds(k.learned) && n.Tokens >= k.learned.Tokens { // a guess only lowers what is known
		return n.Tokens, false
	}
	w.learn(q, k, n)
	return n.Tokens, true
}

// Answered is what is known of a request that was answered, in tokens.
type Answered struct {
	Counted int // by our count, as Sent.Tokens are
	Raw     int // by our count without what was learned of the model's ratio, which may be too high
	Used    int // the whole request by the provider's count; 0 if it does not say
}

// LearnAnswer takes a window back that an answered request shows to be too small, and returns it; 0 is none.
func (w *Windows) LearnAnswer(upstream, model string, a Answered) (refuted int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := id{upstream, model}
	k := w.of(q)
	if k == nil {
		return 0
	}
	used := a.Used
	if used <= 0 {
		used = a.Raw - a.Raw/10
	}
	if w.holds(k.probed) && used > k.probed.Tokens {
		refuted, k.probed = k.probed.Tokens, lesson{}
	}
	if k.learned.Ours {
		used = a.Counted
	}
	if w.holds(k.learned) && used > k.learned.Tokens {
		refuted = max(refuted, k.learned.Tokens)
		w.learn(q, k, lesson{})
	}
	return refuted
}
