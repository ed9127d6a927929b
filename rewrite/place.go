package rewrite

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Places bound how much is shaped at once. In a burst, requests wait for places, which are given to clients in turn, and
// not for each other's memory, processors and calls of the store. A request takes a place for each placeBytes of it that
// are new, at most mostPlaces; one of which less than freeBytes is new takes none, and never waits.
type Places struct {
	free   *Turns
	late   *semaphore.Weighted // for those whose budget is spent, so that not all of them go on at once
	budget time.Duration

	// For metrics.

	InFlight atomic.Int64 // requests that are shaped now, or wait for that
	Waited   atomic.Int64 // nanoseconds that requests have waited for places, all together
	Spent    atomic.Int64 // requests that have spent their budget
}

const (
	freeBytes     = 64 << 10
	placeBytes    = 256 << 10
	mostPlaces    = 8 // of one request
	placesPerProc = 4
)

// NewPlaces returns the places for a number of processors. A request that has spent its budget of time waits for no
// place of these and begins no call of the store. What was decided last is sent, with all that is new behind it. A
// request that this leaves over the line of compaction is shortened by code, as while the store does not answer.
func NewPlaces(processors int, budget time.Duration) *Places {
	all := int64(max(placesPerProc*processors, mostPlaces))
	return &Places{free: NewTurns(all), late: semaphore.NewWeighted(all), budget: budget}
}

// place is what one request has of the Places. A nil place is that of a request which need not wait.
type place struct {
	all    *Places
	client context.Context     // ends when the client has left
	turn   string              // of the client, by name
	until  time.Time           // when the budget is spent; zero for a rescue, which has waited before
	taken  int64               // places
	of     *semaphore.Weighted // that has these
}

var errSpent = errors.New("no time is left for this request, as too many came at once")

// begin returns the place of a request, which has taken none yet. The caller ends it.
func (p *Places) begin(in *Input) *place {
	isServed := in.Compacts && in.Lacks
	if p == nil || in.Replay && !isServed { // a count, or a compaction by the provider
		return nil
	}
	p.InFlight.Add(1)
	own := &place{all: p, client: in.Client, turn: in.Turn}
	if in.Rescue == nil {
		own.until = time.Now().Add(p.budget)
	}
	return own
}

func (p *place) end() {
	if p == nil {
		return
	}
	p.rest()
	p.all.InFlight.Add(-1)
	if p.isSpent() {
		p.all.Spent.Add(1)
	}
}

// enter takes the places for so many new bytes, unless the request has some. It returns false if the client leaves
// meanwhile.
func (p *place) enter(fresh int) bool {
	if p == nil {
		return true
	}
	if fresh >= freeBytes && p.taken == 0 {
		p.take(min(int64(fresh/placeBytes)+1, mostPlaces))
	}
	return p.client.Err() == nil
}

// take takes places, unless a rescue finds none. It waits for them while the budget lasts, and then for those of late
// requests, which are soon free.
func (p *place) take(places int64) {
	p.of = p.all.free.Weighted
	isFree := p.of.TryAcquire(places)
	if !isFree && !p.until.IsZero() {
		began := time.Now()
		ctx, cancel := context.WithDeadline(p.client, p.until)
		defer cancel()
		isFree = p.all.free.AcquireFor(ctx, p.turn, places) == nil
		if !isFree {
			p.of = p.all.late
			isFree = p.of.Acquire(p.client, places) == nil
		}
		p.all.Waited.Add(int64(time.Since(began)))
	}
	if isFree {
		p.taken = places
	}
}

// isSpent reports whether the budget is spent.
func (p *place) isSpent() bool {
	return p != nil && !p.until.IsZero() && !time.Now().Before(p.until)
}

// rest gives the places back: the request waits for a model, and then goes on at once, as it holds much memory, and
// little is left to do. The budget does not pass until the caller calls again.
func (p *place) rest() (again func()) {
	if p == nil {
		return func() {}
	}
	if p.taken > 0 {
		p.of.Release(p.taken)
		p.taken = 0
	}
	began := time.Now()
	return func() { p.until = p.until.Add(time.Since(began)) }
}
