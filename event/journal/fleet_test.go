package journal

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"epitome/event"
	"epitome/store"
)

// forgetful is a store that does what it is told, and says of every third write that it did not.
type forgetful struct {
	store.Store
	mu    sync.Mutex
	calls int
}

func (f *forgetful) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	standing, err := f.Store.Swap(key, old, value, keep)
	if f.calls%3 == 0 {
		return nil, errors.New("no answer")
	}
	return standing, err
}

// TestReplicasHaveTheSumsOfAll has three replicas share their sums at once, through a store that often does not
// acknowledge what it wrote. Each counts the exchanges of all once, also one that starts later, on a data folder whose
// events are in the sums already.
func TestReplicasHaveTheSumsOfAll(t *testing.T) {
	shared := &forgetful{Store: store.NewMemory(64 << 20)}
	folder := t.TempDir()
	now := &clock{}
	now.Store(noon)
	start := func(folder string) *Book {
		c := configured(now)
		c.Folder, c.Shared = folder, shared
		return Open(c)
	}
	replicas := []*Book{start(folder), start(""), start("")}
	const each = 300
	var recording sync.WaitGroup
	for n, b := range replicas {
		recording.Go(func() {
			for i := range each {
				e := talking(fmt.Sprintf("conversation-%d-%d", n, i%20), i)
				e.Client = fmt.Sprint("client", i%5)
				b.RecordExchange(&e)
				if i%20 == 19 {
					_ = b.Share()
				}
			}
			b.RecordSummary(event.Summary{ // its conversation has come to another replica until now
				Kind: event.SummaryCompleted, Time: noon, Conversation: fmt.Sprint("unknown-", n), Client: "client0",
				Upstream: "openai", Model: "m", Cost: event.Cost{Requests: 1, InputTokens: 1000},
			})
			for b.Share() != nil {
			}
		})
	}
	recording.Wait()
	replicas[0].Close()
	replicas[0] = start(folder)
	replicas[0].Settle()
	for n, b := range replicas {
		r := summed(t, rig{b, now}, "client")
		if !r.Fleet || len(r.Rows) != 5 || r.Rows[0].Key != "client0" {
			t.Errorf("replica %d: %d rows, fleet is %t, notes %q", n, len(r.Rows), r.Fleet, r.Notes)
		}
		if own := r.Rows[0].Sums.Money.Own; own != 3*3_000_000 {
			t.Errorf("replica %d: summaries for client0 cost %d", n, own)
		}
		for _, row := range r.Rows {
			if row.Sums.Exchanges != 3*each/5 || row.Sums.Usage.Input != 3*each/5*3000 {
				t.Errorf("replica %d, %s: %d exchanges, input %d", n, row.Key, row.Sums.Exchanges, row.Sums.Usage.Input)
			}
		}
		b.Close()
	}
}
