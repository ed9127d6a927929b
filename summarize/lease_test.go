package summarize

import (
	"errors"
	"sync"
	"testing"
	"time"

	"epitome/store/memory"
)

// leased are leases in memory.
type leased struct {
	mu     sync.Mutex
	taken  map[string]bool
	failed time.Duration // for which the last one who failed wants nobody to ask
	lost   error
}

func (l *leased) Take(key string) (func(time.Duration), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil || l.taken[key] {
		return nil, l.lost
	}
	l.taken[key] = true
	return func(failed time.Duration) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.taken[key], l.failed = false, failed
	}, nil
}

// TestOneOfSeveralProcessesAsks has two that share a store: one request is sent, and both have the answer.
func TestOneOfSeveralProcessesAsks(t *testing.T) {
	facts, leases := memory.New(64<<20, time.Now), &leased{taken: map[string]bool{}}
	var some []*rig
	for range 2 {
		r := over(t, facts, plain(), takes(50*time.Millisecond, text(good("k"))))
		r.deps.Leases = leases
		some = append(some, r)
	}
	var all sync.WaitGroup
	texts := make([]string, len(some))
	for i, r := range some {
		all.Go(func() { texts[i] = r.answered(question("k")).Text })
	}
	all.Wait()
	if sent := len(some[0].requests()) + len(some[1].requests()); sent != 1 || texts[0] != texts[1] {
		t.Errorf("%d requests were sent; the same answer: %v", sent, texts[0] == texts[1])
	}
	// One that fails keeps the others from asking, and where it is not known who asks, nobody does.
	r := over(t, facts, plain(), raw(400, "no", ""))
	r.deps.Leases = leases
	r.fails(question("other"), ErrFailed, "")
	if leases.failed < firstHold {
		t.Errorf("nobody is to ask for %v", leases.failed)
	}
	leases.lost = errors.New("it is not known")
	some[0].fails(question("third"), ErrBusy, "it is not known")
	if sent := len(some[0].requests()) + len(some[1].requests()); sent != 1 {
		t.Errorf("%d requests were sent", sent)
	}
}
