package offload

import (
	"hash/maphash"
	"sync"
)

// locks let the changes of one name happen one after another. Each lock is for a share of all names.
type locks struct {
	seed maphash.Seed
	all  [64]sync.Mutex
}

func newLocks() *locks { return &locks{seed: maphash.MakeSeed()} }

// lock returns the lock of name, locked.
func (l *locks) lock(name string) *sync.Mutex {
	mu := &l.all[maphash.String(l.seed, name)%uint64(len(l.all))]
	mu.Lock()
	return mu
}
