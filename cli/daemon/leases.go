package daemon

import (
	"sync"
	"time"
)

// Leases counts the runs that use an epitome, and ends one that was started for them. Each holds a request to /-/lease
// open.
type Leases struct {
	done chan struct{}

	mu    sync.Mutex
	over  bool
	users int
	last  *time.Timer // ends the epitome; nil if it was started on its own
}

// Start begins to count. leased says that the epitome ends with its last user.
func (l *Leases) Start(leased bool) {
	l.done = make(chan struct{})
	if leased {
		l.last = time.AfterFunc(30*time.Second, l.end)
	}
}

// Done is closed when the last user has left; never, if the epitome was started on its own.
func (l *Leases) Done() <-chan struct{} { return l.done }

func (l *Leases) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users == 0 && !l.over {
		l.over = true
		close(l.done)
	}
}

// Take counts one user in; release counts it out. It reports false if the last one has left.
func (l *Leases) Take() (release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil, false
	}
	l.users++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.users--; l.users == 0 && l.last != nil {
			l.last.Reset(2 * time.Second) // for a run that follows closely
		}
	}, true
}
