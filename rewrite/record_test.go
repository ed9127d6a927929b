package rewrite

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"epitome/dialect/conversation"
)

// Promise 10: nobody waits while the body of another conversation is copied.
func TestBodiesAreCopiedBesideOthers(t *testing.T) {
	const size = 32 << 20
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	c, body := &requestCache{}, make([]byte, size)
	for range 20 {
		l := &lastRequest{request: &conversation.Request{Body: body}}
		before := allocated()
		isCopied, isThere := false, false
		var work sync.WaitGroup
		work.Go(func() { c.put(l, nil) })
		for !isCopied && !isThere {
			c.mu.Lock()
			isThere = slices.Contains(c.list, l)
			isCopied = !isThere && allocated() >= before+size
			c.mu.Unlock()
		}
		work.Wait()
		if isCopied {
			return
		}
	}
	t.Error("a body was never copied while others could read")
}
