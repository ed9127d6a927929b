package clients

import (
	"sync"
	"time"
)

// Quantity is what a client can use up.
type Quantity string

// The quantities.
const (
	Requests Quantity = "requests"
	Tokens   Quantity = "tokens"
)

// Usage counts what clients use within full minutes. It lives as long as the process. Make one with NewUsage; its
// methods may be called from any goroutine.
type Usage struct {
	mu   sync.Mutex
	used map[account]tally
}

// account is what is counted of whom.
type account struct {
	client string
	what   Quantity
}

// tally is how much was used in the minute that began then.
type tally struct {
	began time.Time
	used  int64
}

// NewUsage returns a Usage with nothing in it.
func NewUsage() *Usage { return &Usage{used: make(map[account]tally)} }

// Add adds n to what the client has used in this minute, and returns the sum. What was stamped just before a minute
// began counts within it; a clock that was set back begins anew.
func (u *Usage) Add(client string, what Quantity, n int64, now time.Time) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	who, began := account{client, what}, now.Truncate(time.Minute)
	t := u.used[who]
	if ahead := began.Sub(t.began); ahead > 0 || ahead < -time.Minute {
		t = tally{began: began}
	}
	t.used = max(t.used+n, 0)
	u.used[who] = t
	return t.used
}
