package bucket

import (
	"context"
	"errors"
	"sync"
	"time"
)

// mostFailures is how many requests in a row may fail before the service counts as away. One that is not answered in
// time is enough: nobody else is to wait for that.
const mostFailures = 3

// health is whether the service works, as far as requests have shown.
type health struct {
	mu       sync.Mutex
	failures int           // in a row
	away     bool          // until recover
	every    time.Duration // between two looks at a service that is away; 0: a second
}

func (h *health) isAway() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.away
}

// isNearlyAway reports whether one more failure makes the service away.
func (h *health) isNearlyAway() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.away && h.failures == mostFailures-1
}

// judge takes how a request ended, and reports whether the service has just become away: with most failures in a row.
func (h *health) judge(err error, most int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.failures = 0
		return false
	}
	h.failures++
	if h.away || h.failures < most && !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	h.away = true
	return true
}

// recover takes that the service works again.
func (h *health) recover() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures, h.away = 0, false
}

// pause is the time between two looks at a service that is away.
func (h *health) pause() time.Duration {
	if h.every > 0 {
		return h.every
	}
	return time.Second
}
