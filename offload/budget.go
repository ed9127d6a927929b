package offload

import (
	"math"
	"sync"
)

// budget counts the bytes of contents against the quota.
type budget struct {
	quota int64
	most  int64 // which not even twice the quota goes beyond

	mu       sync.Mutex // guards all below
	used     int64
	short    bool             // something was refused, and nothing was freed since
	reserved int64            // for what is being written
	counted  map[string]int64 // sizes by name, while a count is under way
}

func (b *budget) once() int64 { return min(b.quota, b.most) }

func (b *budget) twice() int64 {
	if b.quota > math.MaxInt64/2 {
		return b.most
	}
	return min(2*b.quota, b.most)
}

// full is also true while there is room for something smaller than what was refused.
func (b *budget) full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.short || b.used >= b.once()
}

func (b *budget) total() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// reserve takes size bytes if they fit in. The caller gives them back with release or settle.
func (b *budget) reserve(size, limit int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+b.reserved > limit-size {
		b.short = true
		return false
	}
	b.reserved += size
	return true
}

func (b *budget) release(size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= size
}

// settle makes the size bytes that were reserved those of name, which had old bytes before.
func (b *budget) settle(name string, size, old int64) {
	b.release(size)
	b.changed(name, size, old)
}

// changed is to be called, as saw is, under the lock of name: so a count that is under way has the latest.
func (b *budget) changed(name string, size, old int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += size - old
	b.short = b.short && size >= old
	if b.counted != nil {
		b.counted[name] = size
	}
}

func (b *budget) beginCount() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted = map[string]int64{}
}

func (b *budget) saw(name string, size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted[name] = size
}

// endCount makes what is used what was counted since beginCount.
func (b *budget) endCount() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used, b.short = 0, false
	for _, size := range b.counted {
		b.used += size
	}
	b.counted = nil
}

func (b *budget) dropCount() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted = nil
}
