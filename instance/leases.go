package instance

import (
	"sync"
	"time"
)

// Leases counts the users of a program that lives for them.
type Leases struct {
	ended chan struct{} // closed when the last user has left; never, for a program that lives on its own

	mu      sync.Mutex
	holders int
	last    *time.Timer // ends the program; nil when it lives on its own
}

const (
	firstLease = 30 * time.Second // for the first user to come
	nextLease  = 2 * time.Second  // for another one after the last has left
)

// Start begins to count. leased says that the program ends with its last user.
func (l *Leases) Start(leased bool) {
	l.ended = make(chan struct{})
	if leased {
		l.last = time.AfterFunc(firstLease, l.end)
	}
}

// Done is closed when the last user has left; never, for a program that lives on its own.
func (l *Leases) Done() <-chan struct{} { return l.ended }

func (l *Leases) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holders > 0 {
		return
	}
	select {
	case <-l.ended:
	default:
		close(l.ended)
	}
}

// Take counts one user in, unless the end has come; release counts it out.
func (l *Leases) Take() (release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.ended:
		return nil, false
	default:
	}
	l.holders++
	return l.release, true
}

func (l *Leases) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holders--; l.holders == 0 && l.last != nil {
		l.last.Reset(nextLease)
	}
}
