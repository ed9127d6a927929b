package shared

import (
	"sync"
	"sync/atomic"
	"time"
)

// mostFailures is how many questions stay without an answer, one put behind the other, before the server is left alone.
// A request puts no more than that many.
const mostFailures = 2

// breaker keeps a server from being asked that does not answer.
type breaker struct {
	shut atomic.Bool // the server is not asked

	mu       sync.Mutex // guards all below
	since    time.Time
	why      error
	failures int       // in a row
	failed   time.Time // when the last of them came
	gap      time.Time
}

// lastGap is until when questions may have stayed without an answer; zero: none has.
func (b *breaker) lastGap() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gap
}

func (b *breaker) state() (up bool, since time.Time, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.why != nil {
		why = b.why.Error()
	}
	return !b.shut.Load(), b.since, why
}

// open leaves the server alone from now on. It reports whether that is news.
func (b *breaker) open(why error) (news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut.Load() {
		b.why = why
		return false
	}
	b.since, b.why = time.Now(), why
	b.gap = b.since
	b.shut.Store(true)
	return true
}

// note takes the outcome of a question that was put at a time. It reports whether the server is left alone from now on.
// Questions that were under way together fail together: they are one failure.
func (b *breaker) note(failure error, put time.Time) (opened bool) {
	b.mu.Lock()
	if failure == nil {
		b.failures = 0
		b.mu.Unlock()
		return false
	}
	b.gap = time.Now()
	if b.failures == 0 || !put.Before(b.failed) {
		b.failures++
		b.failed = b.gap
	}
	enough := b.failures >= mostFailures
	b.mu.Unlock()
	return enough && b.open(failure)
}

// close has the server asked again. away is how long it was not.
func (b *breaker) close() (away time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	away = time.Since(b.since)
	b.since, b.why, b.failures = time.Now(), nil, 0
	b.gap = b.since
	b.shut.Store(false)
	return away
}
