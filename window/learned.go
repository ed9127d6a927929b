package window

import (
	"encoding/json"
	"maps"
	"strings"
	"time"
)

// id names a model at an upstream as requests do.
type id struct{ upstream, model string }

// known is what was learned of one model at one upstream.
type known struct {
	learned, probed lesson
	read            time.Time // when learned was read from the store
}

// lesson is a window, for a time; without tokens it is none.
type lesson struct {
	Tokens int       `json:"tokens"`
	Until  time.Time `json:"until"`
	Stated bool      `json:"stated"` // by the provider, and not guessed from what it did
	Ours   bool      `json:"ours"`   // Tokens are of our own count, and not of the provider's
}

const (
	mostKnown   = 256
	maxName     = 256 // bytes: requests make up names
	keepStated  = 24 * time.Hour
	keepGuessed = time.Hour
	keepProbed  = 2 * time.Hour   // servers are asked every hour
	readEvery   = 5 * time.Second // others may learn into the same store
)

func (w *Windows) holds(n lesson) bool { return n.Tokens > 0 && w.now().Before(n.Until) }

func (q id) key() string { return "window/" + q.upstream + "\x00" + q.model }

// of returns what is known of a model, to be changed; nil if its name is too long. Where there is no room, what is known
// of others goes, and of those without a lesson first. The caller holds w.mu.
func (w *Windows) of(q id) *known {
	k := w.known[q]
	switch {
	case len(q.upstream) > maxName || len(q.model) > maxName:
		return nil
	case k == nil:
		if len(w.known) >= mostKnown {
			maps.DeleteFunc(w.known, func(_ id, k *known) bool { return !w.holds(k.learned) && !w.holds(k.probed) })
		}
		if len(w.known) >= mostKnown {
			clear(w.known)
		}
		k = &known{}
		w.known[id{strings.Clone(q.upstream), strings.Clone(q.model)}] = k // they may be parts of a whole request
	}
	if now := w.now().Round(0); w.store != nil && now.Sub(k.read).Abs() >= readEvery {
		k.read = now
		var n lesson
		fact, found := w.store.Get(q.key())
		if found && json.Unmarshal(fact.Bytes, &n) == nil && (n == lesson{} || n.Tokens >= Least && n.Tokens <= Most) &&
			!n.Until.After(now.Add(keepStated)) { // else it is damaged, or of a clock that went wrong
			k.learned = n
		}
	}
	return k
}

// change has edit change what is known of a model, and stores the lesson if edit reports that it has changed it.
func (w *Windows) change(q id, edit func(k *known) bool) (changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.of(q)
	if changed = k != nil && edit(k); !changed || w.store == nil {
		return changed
	}
	if value, err := json.Marshal(k.learned); err == nil {
		_, _ = w.store.Put(q.key(), value, keepStated) // what is not stored is learned again
	}
	return changed
}

// LearnRefusal learns from a refusal whose request was accepted once it was smaller: the window that it states, or
// else, if the request was too long by our count, that the window is a little smaller than the request. It returns
// what was learned; ok reports that this is news, which deserves a warning.
func (w *Windows) LearnRefusal(upstream, model string, r Refusal, s Sent) (tokens int, ok bool) {
	n := lesson{Tokens: s.Tokens - s.Tokens/20, Ours: true, Until: w.now().Add(keepGuessed)}
	switch {
	case r.Cause != Input && r.Cause != Output:
		return 0, false
	case r.Below(s.Window):
		n = lesson{Tokens: r.Limit, Stated: true, Until: w.now().Add(keepStated)}
	case r.Cause == Output:
		return 0, false
	}
	if n.Tokens < Least || n.Tokens > Most || s.Window > 0 && n.Tokens >= s.Window {
		return 0, false
	}
	return n.Tokens, w.change(id{upstream, model}, func(k *known) (isNews bool) {
		// What a provider has stated, a guess replaces only by less.
		if isNews = n.Stated || !w.holds(k.learned) || n.Tokens < k.learned.Tokens; isNews {
			k.learned = n
		}
		return isNews
	})
}

// LearnProbe takes what a server answers when it is asked.
func (w *Windows) LearnProbe(upstream, model string, tokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.of(id{upstream, model}); k != nil && tokens >= Least && tokens <= Most {
		k.probed = lesson{Tokens: tokens, Until: w.now().Add(keepProbed)}
	}
}

// forgetProbes forgets what servers have answered.
func (w *Windows) forgetProbes(of func(upstream string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for q, k := range w.known {
		if of(q.upstream) {
			k.probed = lesson{}
		}
	}
}

// Answered is what is known of a request that was answered, in tokens.
type Answered struct {
	Counted int // by our count, as Sent.Tokens are
	Raw     int // by our count without what was learned of the model's ratio, which may be too high
	Used    int // the whole request by the provider's count; 0 if it does not say
}

// LearnAnswer takes a window back that an answered request shows to be too small, and returns it; 0 is none.
func (w *Windows) LearnAnswer(upstream, model string, a Answered) (refuted int) {
	tokens := a.Used
	if tokens <= 0 {
		tokens = a.Raw - a.Raw/10
	}
	w.change(id{upstream, model}, func(k *known) (changed bool) {
		if w.holds(k.probed) && tokens > k.probed.Tokens {
			refuted, k.probed = k.probed.Tokens, lesson{}
		}
		n := &k.learned
		switch {
		case !w.holds(*n):
		case n.Ours && a.Counted > n.Tokens, !n.Ours && tokens > n.Tokens:
			refuted, *n, changed = max(refuted, n.Tokens), lesson{}, true
		case n.Ours && a.Used > a.Counted && a.Counted >= n.Tokens/4:
			// A smaller request tells little of how the provider counts, and one that counts less may leave out what
			// was cached.
			n.Tokens = min(int(int64(n.Tokens)*int64(a.Used)/int64(a.Counted)), Most)
			n.Ours, changed = false, true
		}
		return changed
	})
	return refuted
}
