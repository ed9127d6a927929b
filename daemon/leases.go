package daemon

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"epitome/store/shared"
)

const (
	leaseFor   = 30 * time.Second // without a renewal: how long others wait for a process that has died
	renewEvery = leaseFor / 3
	failedMark = "failed"
)

// leaseKeys begin the keys of leases.
const leaseKeys = "lease "

// leases are who does what only one of several processes is to do. Make one with newLeases.
type leases struct {
	store *shared.Store
	renew time.Duration
}

// newLeases returns those in s.
func newLeases(s *shared.Store) *leases { return &leases{s, renewEvery} }

// errFailed says that it was tried, and failed.
var errFailed = errors.New("another epitome has tried, and failed")

// Take returns what gives the lease of a key back, if nobody has it; failed says for how long nobody is to have it
// then. It is nil if somebody has it. An error says that it is not known whether somebody does, or that it has failed.
func (l *leases) Take(key string) (giveBack func(failed time.Duration), err error) {
	key, token := leaseKeys+key, rand.Text()
	standing, _, err := l.store.PutIfAbsent(key, []byte(token), leaseFor)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot take a lease: %w", err)
	case string(standing.Bytes) == failedMark:
		return nil, errFailed
	case string(standing.Bytes) != token:
		return nil, nil
	}
	ended := make(chan struct{})
	go l.hold(key, token, ended)
	return func(failed time.Duration) {
		close(ended)
		mark, keep := failedMark, failed
		if failed <= 0 { // as good as gone
			mark, keep = "free", time.Millisecond
		}
		mine := shared.Version([]byte(token))
		_, _, _ = l.store.CompareAndSwap(key, mine, []byte(mark), keep) // if that fails, the lease ends by itself
	}, nil
}

// hold renews a lease until that has ended.
func (l *leases) hold(key, token string, ended <-chan struct{}) {
	tick := time.NewTicker(l.renew)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			_, _, _ = l.store.CompareAndSwap(key, shared.Version([]byte(token)), []byte(token), leaseFor)
		}
	}
}
