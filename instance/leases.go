package instance

import (
	"sync"
	"time"
)

// Leases counts the runs that use an epitome, and ends one that lives for them. Each holds a request to /-/lease open.
type Leases struct {
	ended chan struct{} // closed when the last run has left; never, for an epitome that lives on its own

	mu    sync.Mutex
	users int
	last  *time.Timer // ends the epitome; nil when it lives on its own
}

// Start begins to count. leased says that the epitome ends with its last user.
func (l *Leases) Start(leased bool) {
	l.ended = make(chan struct{})
	if leased {
		l.last = time.AfterFunc(30*time.Second, l.end)
	}
}

// Done is closed when the last user has left.
func (l *Leases) Done() <-chan struct{} { return l.ended }

func (l *Leases) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users == 0 && !l.over() {
		close(l.ended)
	}
}

func (l *Leases) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// Take counts one user in, unless the end has come; release counts it out.
func (l *Leases) Take() (release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over() {
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
