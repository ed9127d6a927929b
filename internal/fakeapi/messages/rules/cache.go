package rules

import (
	"fmt"
	"maps"
	"time"

	"epitome/internal/fakeapi"
)

// How far back entries are looked for, and how long they live.
const (
	lookback  = 20 // positions, with the marker's own
	shortLife = 5 * time.Minute
	longLife  = time.Hour
)

// Cache has what earlier requests had written at their markers.
type Cache struct {
	entries map[string]entry // by the digest of a prefix
	now     time.Duration    // the clock; only Advance moves it
}

// entry is one prefix in the cache.
type entry struct {
	life time.Duration // after its last use
	dies time.Duration // by the clock
}

// NewCache is an empty cache.
func NewCache() *Cache { return &Cache{entries: map[string]entry{}} }

// Clone returns a cache that has the same, and goes its own way from here on.
func (c *Cache) Clone() *Cache { return &Cache{maps.Clone(c.entries), c.now} }

// Advance moves the clock.
func (c *Cache) Advance(d time.Duration) { c.now += d }

// Usage is what an answer says of tokens.
type Usage struct {
	Input       int // neither read from the cache nor written to it
	Read        int
	Written     int // for five minutes
	WrittenLong int // for an hour
	Output      int
}

// Total is all input.
func (u Usage) Total() int { return u.Input + u.Read + u.Written + u.WrittenLong }

// marks are the places of a prompt at which the cache is asked: digests of all prefixes, and which are marked.
type marks struct {
	digests []string
	tokens  []int // of the prefix
	marker  []*Marker
}

// marksOf is what q's prompt looks like to the cache. Each stage begins with the settings that its entries depend on.
func marksOf(q *Request, all []Position) *marks {
	pictures := false
	for _, m := range q.Messages {
		pictures = pictures || pictured(m.Blocks)
	}
	choice := string(fakeapi.Normal(q.Fields["tool_choice"]))
	seeds := map[stage]string{
		inTools:    q.Name + " " + q.Scope,
		inPrompt:   string(q.Fields["speed"]),
		inMessages: fmt.Sprint(choice, q.Thinking.Mode, q.Thinking.Budget, pictures, effort(q)),
	}
	m := &marks{}
	named, tokens, done := "", 0, -1
	for _, p := range all {
		for ; done < int(p.stage); done++ {
			named = fakeapi.Digest(named, []byte(seeds[stage(done+1)]))
		}
		named = fakeapi.Digest(named, append([]byte(p.role+" "), p.block.Canon...))
		tokens += p.tokens
		m.digests = append(m.digests, named)
		m.tokens = append(m.tokens, tokens)
		var own *Marker
		if within := p.block.MarkersWithin(nil); len(within) > 0 {
			own = within[len(within)-1]
		}
		m.marker = append(m.marker, own)
	}
	return m
}

// effort is output_config.effort.
func effort(q *Request) string {
	if !q.Fields.Has("output_config") {
		return ""
	}
	config, refused := ReadObject(q.Fields["output_config"], "output_config")
	if refused != nil {
		return ""
	}
	return config.Text("effort")
}

// Account reads and writes what q's prompt marks, and says what that comes to.
func (c *Cache) Account(q *Request, prompt []Position) Usage {
	m := marksOf(q, prompt)
	hit := -1
	for i, marked := range m.marker {
		if marked == nil {
			continue
		}
		if found := c.find(m, i); found >= 0 {
			hit = max(hit, found)
		}
	}
	var u Usage
	if len(m.tokens) > 0 {
		u.Input = m.tokens[len(m.tokens)-1]
	}
	covered := 0
	if hit >= 0 {
		covered = m.tokens[hit]
		u.Read = covered
	}
	for i, marked := range m.marker {
		if marked == nil || m.tokens[i] < q.Model.Minimum {
			continue
		}
		fresh := max(0, m.tokens[i]-covered)
		covered += fresh
		if marked.Long {
			c.write(m.digests[i], longLife)
			u.WrittenLong += fresh
		} else {
			c.write(m.digests[i], shortLife)
			u.Written += fresh
		}
	}
	u.Input -= covered
	return u
}

// find is the longest prefix with an entry that the marker at position i sees; -1 for none. What is found lives on.
func (c *Cache) find(m *marks, i int) int {
	for k := i; k >= 0 && k > i-lookback; k-- {
		if found := c.entries[m.digests[k]]; found.dies > c.now {
			c.write(m.digests[k], found.life)
			return k
		}
	}
	return -1
}

// write makes an entry, or lets one live longer.
func (c *Cache) write(digest string, life time.Duration) {
	if old := c.entries[digest]; old.dies > c.now {
		life = max(life, old.life)
	}
	c.entries[digest] = entry{life, c.now + life}
}
