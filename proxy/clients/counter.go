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

// spans are the lengths of time within which limits hold, by their names. Each begins anew at its full minute or, in
// UTC, day, so that replicas which count together need no more than one number for each.
var spans = [2]span{{"minute", time.Minute}, {"day", 24 * time.Hour}}

// span is one of them.
type span struct {
	name   string
	length time.Duration
}

// rest is how long the span still lasts that now lies in.
func (s span) rest(now time.Time) time.Duration { return now.Truncate(s.length).Add(s.length).Sub(now) }

// Counter keeps how much clients have used. Its methods may be called from any goroutine.
type Counter interface {
	// Add adds n to what the client has used in this minute and on this day, and returns both sums. known is false
	// where nobody can tell: then nobody is refused.
	Add(client string, what Quantity, n int64, now time.Time) (used [2]int64, known bool)
}

// Local is a Counter for this process alone. Make one with NewLocal.
type Local struct {
	mu   sync.Mutex
	used map[account]*[2]tally
}

// account is what is counted of whom.
type account struct {
	client string
	what   Quantity
}

// tally is how much was used in the span that began then.
type tally struct {
	began time.Time
	used  int64
}

// isOver reports whether a span has ended. What was stamped just before one began counts within it. A clock that was
// set back begins anew.
func (t *tally) isOver(s span, now time.Time) bool {
	ahead := now.Truncate(s.length).Sub(t.began)
	return ahead > 0 || ahead < -s.length
}

// NewLocal returns a Counter of which nothing outlives the process.
func NewLocal() *Local { return &Local{used: make(map[account]*[2]tally)} }

// Add counts; what it knows is always known.
func (l *Local) Add(client string, what Quantity, n int64, now time.Time) (used [2]int64, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.used[account{client, what}]
	if of == nil {
		of = new([2]tally)
		l.used[account{client, what}] = of
	}
	for i, s := range spans {
		if of[i].isOver(s, now) {
			of[i] = tally{began: now.Truncate(s.length)}
		}
		of[i].used = max(of[i].used+n, 0)
		used[i] = of[i].used
	}
	return used, true
}
