package metrics

import (
	"sync/atomic"

	"epitome/event"
)

// Totals are the few numbers that tell what a program has done since its start.
type Totals struct {
	Exchanges    int64 `json:"exchanges"`        // that have ended
	InFlight     int   `json:"in_flight"`        // that are under way
	TokensBefore int64 `json:"tokens_before"`    // of conversations, as they came
	TokensAfter  int64 `json:"tokens_after"`     // as they were sent, or in mode observe would have been
	Observed     bool  `json:"observed"`         // some of them were in mode observe
	Added        int64 `json:"added,omitempty"`  // tokens of them that epitome has added behind the system's text
	Memory       int64 `json:"memory,omitempty"` // those that are what earlier sessions have learned
	// of the conversation's request that came with the most tokens: as it came, and as it was sent
	LargestBefore int64 `json:"largest_before,omitempty"`
	LargestAfter  int64 `json:"largest_after,omitempty"`
}

// totals are counted beside the metrics, so that nobody has to add those up.
type totals struct {
	inFlight                 func() int
	exchanges, before, after atomic.Int64
	added, memory            atomic.Int64
	observed                 atomic.Bool
	largest                  atomic.Pointer[sizes]
}

// sizes are what a request came to, in tokens.
type sizes struct{ before, after int64 }

// Totals returns what has been counted so far.
func (m *Recorder) Totals() Totals {
	t, largest := &m.totals, sizes{}
	if seen := m.totals.largest.Load(); seen != nil {
		largest = *seen
	}
	return Totals{
		Exchanges: t.exchanges.Load(), InFlight: t.inFlight(), TokensBefore: t.before.Load(),
		TokensAfter: t.after.Load(), Added: t.added.Load(), Memory: t.memory.Load(),
		Observed: t.observed.Load(), LargestBefore: largest.before, LargestAfter: largest.after,
	}
}

// addShaped counts a conversation.
func (t *totals) addShaped(e *event.Exchange) {
	before, after := int64(e.TokensBefore.Total()), int64(e.TokensAfter.Total())
	t.before.Add(before)
	t.after.Add(after)
	t.added.Add(int64(e.Added))
	t.memory.Add(int64(e.Memory))
	for seen := t.largest.Load(); seen == nil || before > seen.before; seen = t.largest.Load() {
		if t.largest.CompareAndSwap(seen, &sizes{before, after}) {
			break
		}
	}
	if e.Mode == event.ModeObserve {
		t.observed.Store(true)
	}
}
