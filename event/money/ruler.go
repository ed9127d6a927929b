package money

import "time"

// What a provider's prompt cache does beside its price: the usual figures of those that cache by themselves.
const (
	leastCached = 1024 // tokens; a shorter beginning is not looked up
	cachedStep  = 128  // tokens; of a longer one whole steps are

	// CacheLife is how long what was sent is held, at the least.
	CacheLife = 5 * time.Minute
)

// Ruler is what of a request a provider's cache is taken to have. Two requests that are held to the same ruler can be
// compared, as its errors stand on both sides.
type Ruler struct {
	Least, Step int // tokens: of how many on, and in which steps, what is held counts; 0: each token does
	Life        time.Duration
}

// UsualRuler returns the ruler of providers that cache by themselves.
func UsualRuler() Ruler { return Ruler{leastCached, cachedStep, CacheLife} }

// Cached returns the tokens of a request that the cache has, of which held stood in the same place in the request
// before.
func (r Ruler) Cached(tokens, held int) int {
	held = max(min(held, tokens), 0)
	if held < r.Least {
		return 0
	}
	if r.Step > 0 {
		held -= held % r.Step
	}
	return held
}

// Expires reports whether the cache has lost the request before after such a pause.
func (r Ruler) Expires(pause time.Duration) bool { return r.Life > 0 && pause > r.Life }
