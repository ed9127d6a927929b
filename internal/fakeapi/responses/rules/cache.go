package rules

import (
	"maps"
	"slices"
	"time"

	"epitome/internal/fakeapi"
)

// What is cached, and for how long.
const (
	minimum   = 1024 // tokens of the shortest prefix
	step      = 128  // tokens; a prefix is cut down to a multiple of it
	life      = 10 * time.Minute
	longLife  = 24 * time.Hour
	breakLife = 30 * time.Minute // of a breakpoint
	longBreak = 12 * time.Hour
	breaks    = 4  // breakpoints written by one request, the newest ones
	lookback  = 80 // breakpoints that are looked for, the newest ones
)

// Cache has what earlier requests left in it.
type Cache struct {
	entries map[string]cached // by the digest of a prefix
	written []string          // digests of breakpoints, the newest last
	now     time.Duration     // the clock; only Advance moves it
}

// cached is one prefix in the cache.
type cached struct {
	life time.Duration // after its last use
	dies time.Duration // by the clock
}

// NewCache is an empty cache.
func NewCache() *Cache { return &Cache{entries: map[string]cached{}} }

// Clone returns a cache that has the same, and goes its own way from here on.
func (c *Cache) Clone() *Cache { return &Cache{maps.Clone(c.entries), slices.Clone(c.written), c.now} }

// Advance moves the clock.
func (c *Cache) Advance(d time.Duration) { c.now += d }

// Usage is what an answer says of tokens.
type Usage struct {
	Input     int // all of it
	Cached    int // of Input
	Written   int // of Input; told of models with breakpoints alone
	Output    int // all of it
	Reasoning int // of Output
}

// Account reads and writes what q's prompt leaves in the cache, and says what that comes to. Whoever asks, the model
// and the prompt_cache_key are part of what each prefix names.
func (c *Cache) Account(q *Request, prompt []Position) Usage {
	named := fakeapi.Digest(q.Name+" "+q.Scope, []byte(q.Fields.Text("prompt_cache_key")))
	digests, tokens := make([]string, len(prompt)), make([]int, len(prompt))
	sum := 0
	for n, p := range prompt {
		named = fakeapi.Digest(named, append([]byte(p.role+" "), p.canon...))
		sum += p.tokens
		digests[n], tokens[n] = named, sum
	}
	u := Usage{Input: sum}
	if q.Model.Breaks {
		c.useBreaks(prompt, digests, tokens, &u)
		return u
	}
	lives := life
	if q.Fields.Text("prompt_cache_retention") == "24h" {
		lives = longLife
	}
	for n := range prompt {
		if found := c.entries[digests[n]]; found.dies > c.now && tokens[n] >= minimum {
			u.Cached = tokens[n] / step * step
		}
		c.write(digests[n], lives)
	}
	return u
}

// useBreaks reads from the newest breakpoint that an earlier request wrote, and writes those of this one.
func (c *Cache) useBreaks(prompt []Position, digests []string, tokens []int, u *Usage) {
	latest := c.written[max(0, len(c.written)-lookback):]
	for n := range prompt {
		if slices.Contains(latest, digests[n]) && c.entries[digests[n]].dies > c.now {
			u.Cached = tokens[n]
		}
	}
	implicit := -1
	var marked []int
	for n, p := range prompt {
		if p.newest {
			implicit = n
		}
		if len(p.marks) > 0 {
			marked = append(marked, n)
		}
	}
	if len(marked) >= breaks {
		marked = marked[len(marked)-breaks+1:]
	}
	if implicit >= 0 && !slices.Contains(marked, implicit) {
		marked = append(marked, implicit)
	}
	for _, n := range marked {
		if tokens[n] < minimum {
			continue
		}
		lives := breakLife
		if marks := prompt[n].marks; len(marks) > 0 && marks[len(marks)-1].Long {
			lives = longBreak
		}
		u.Written = max(u.Written, tokens[n]-u.Cached)
		c.write(digests[n], lives)
		c.written = append(slices.DeleteFunc(c.written, func(d string) bool { return d == digests[n] }), digests[n])
	}
}

// write makes an entry, or lets one live longer.
func (c *Cache) write(digest string, lives time.Duration) {
	if old := c.entries[digest]; old.dies > c.now {
		lives = max(lives, old.life)
	}
	c.entries[digest] = cached{lives, c.now + lives}
}
