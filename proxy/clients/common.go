package clients

import (
	"fmt"
	"sync"
	"time"
)

// Share is how much one epitome has counted of what several count together.
type Share struct {
	Key  string        // names client, quantity and span, alike everywhere
	Mine int64         // counted here, in all
	Keep time.Duration // for which anybody may ask
}

// Pool has what several epitomes count together.
type Pool interface {
	// Tell puts the shares in, each in place of what was told of it before, and returns how much all others have
	// counted, in their order. To tell the same twice changes nothing.
	Tell(list []Share) (others []int64, err error)
}

// Common is a Counter of several epitomes. It waits for nobody: each counts by itself, and Meet tells the others and
// hears from them. So a limit may be passed by what comes between two meetings, and nobody is refused because the pool
// does not answer. Make one with NewCommon.
type Common struct {
	pool Pool

	mu   sync.Mutex
	used map[account]*standing
}

// standing is how an account is, as far as it is known here.
type standing struct {
	asked time.Time // when it was asked for last
	spans [2]portion
}

// portion is what was used in the span that began then.
type portion struct {
	here   tally
	told   int64 // of what was used here
	others int64 // what others have used
}

// NewCommon returns a Counter that shares what it counts through the pool.
func NewCommon(p Pool) *Common { return &Common{pool: p, used: make(map[account]*standing)} }

// Add counts; what it knows is always known.
func (c *Common) Add(client string, what Quantity, n int64, now time.Time) (used [2]int64, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.used[account{client, what}]
	if of == nil {
		of = new(standing)
		c.used[account{client, what}] = of
	}
	of.asked = now
	for i, s := range spans {
		p := &of.spans[i]
		if p.here.isOver(s, now) {
			*p = portion{here: tally{began: now.Truncate(s.length)}}
		}
		p.here.used = max(p.here.used+n, 0)
		used[i] = p.here.used + p.others
	}
	return used, true
}

// Meet tells the others what was counted here, and hears what they have counted: of clients that were here lately. What
// cannot be told now is told the next time.
func (c *Common) Meet(now time.Time) error {
	list, portions := c.toTell(now)
	if len(list) == 0 {
		return nil
	}
	others, err := c.pool.Tell(list)
	if err != nil {
		return fmt.Errorf("cannot tell the other epitomes what clients have used: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range portions {
		if i < len(others) && p.here.began.Equal(p.then) {
			p.told, p.others = list[i].Mine, max(others[i], 0)
		}
	}
	return nil
}

// lately is how long a client is asked about that was here.
const lately = 2 * time.Minute

// met is a portion, with the beginning that its span had when it was told.
type met struct {
	*portion
	then time.Time
}

// toTell is what is to be told now, and of which portions.
func (c *Common) toTell(now time.Time) (list []Share, portions []met) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for who, of := range c.used {
		for i, s := range spans {
			p := &of.spans[i]
			if p.here.isOver(s, now) || p.told == p.here.used && now.Sub(of.asked) > lately {
				continue
			}
			key := fmt.Sprintf("used/%s/%s/%s/%d", who.client, who.what, s.name, p.here.began.Unix())
			list = append(list, Share{Key: key, Mine: p.here.used, Keep: s.rest(now) + lately})
			portions = append(portions, met{p, p.here.began})
		}
	}
	return list, portions
}
