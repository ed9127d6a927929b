package offload

import (
	"math"
	"sync"
)

// budget counts the bytes of contents against the quota.
type budget struct {
	quota int64
	most  int64 // bytes; bounds twice the quota too

	mu       sync.Mutex       // guards all below
	used     int64            // bytes
	short    bool             // something was refused, and nothing was freed since
	reserved int64            // bytes, for what is being written
	counted  map[string]int64 // sizes by name, while a count is under way
}

// once returns how many bytes Put may fill.
func (b *budget) once() int64 { return min(b.quota, b.most) }

// twice returns how many bytes PutBeyond may fill.
func (b *budget) twice() int64 {
	if b.quota > math.MaxInt64/2 {
		return b.most
	}
	return min(2*b.quota, b.most)
}

// full does what Full says.
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

// reserve takes size bytes if they fit within limit. The caller gives them back with release or settle.
func (b *budget) reserve(size, limit int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+b.reserved > limit-size {
		b.short = b.short || size <= limit // what never fits says nothing of what is left
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

// settle gives name the size bytes that were reserved. It had old bytes before. Nobody sees them free in between.
func (b *budget) settle(name string, size, old int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= size
	b.note(name, size, old)
}

// change notes that name has size bytes now, and had old before. Its caller holds the lock of name, as that of saw
// does: so a count that is under way has the latest size.
func (b *budget) change(name string, size, old int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(name, size, old)
}

// note does what change says. The caller holds mu.
func (b *budget) note(name string, size, old int64) {
	b.used += size - old
	b.short = b.short && size >= old
	if b.counted != nil {
		b.counted[name] = size
	}
}

// recount sets what is used to what lies in place.
func (b *budget) recount(place Place) error {
	names, err := place.Names()
	if err != nil {
		return err
	}
	b.beginCount()
	for _, name := range names {
		if there, err := place.Look(name); err == nil {
			b.saw(name, there.Size)
		}
	}
	b.endCount()
	return nil
}

func (b *budget) beginCount() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted = map[string]int64{}
}

// saw tells a count that is under way that name has size bytes.
func (b *budget) saw(name string, size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted[name] = size
}

// endCount sets what is used to what was counted since beginCount.
func (b *budget) endCount() {
	b.mu.Lock()
	defer b.mu.Unlock()
	used := int64(0)
	for _, size := range b.counted {
		used += size
	}
	b.short = b.short && used >= b.used
	b.used, b.counted = used, nil
}

func (b *budget) dropCount() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted = nil
}
