package turns

import (
	"container/list"
	"sync"

	"epitome/store"
)

// recent remembers facts that never change, up to so many bytes: what was used least recently goes first.
type recent struct {
	most int // bytes

	mu    sync.Mutex // guards all below
	byKey map[string]*list.Element
	order *list.List // of *kept, the newest first
	size  int
}

type kept struct {
	key  string
	fact store.Fact
}

// size is about how many bytes it takes.
func (k *kept) size() int {
	const beside = 200
	return len(k.key) + len(k.fact.Bytes) + beside
}

func newRecent(most int) *recent {
	return &recent{most: most, byKey: map[string]*list.Element{}, order: list.New()}
}

// get returns a fact that nobody may change.
func (r *recent) get(key string) (store.Fact, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, found := r.byKey[key]
	if !found {
		return store.Fact{}, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*kept).fact, true //nolint:forcetypeassert // only these are put there
}

func (r *recent) put(key string, fact store.Fact) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, found := r.byKey[key]; found {
		return
	}
	k := &kept{key, fact}
	r.byKey[key] = r.order.PushFront(k)
	for r.size += k.size(); r.size > r.most; {
		last := r.order.Back()
		old := r.order.Remove(last).(*kept) //nolint:forcetypeassert // likewise
		delete(r.byKey, old.key)
		r.size -= old.size()
	}
}
