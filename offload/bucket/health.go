package bucket

import (
	"context"
	"errors"
	"sync"
	"time"
)

// mostFailures is how many failures in a row make a service away. A timeout does so alone, as every further request
// would wait for one too.
const mostFailures = 3

// health is whether the service works, judged by the ends of requests.
type health struct {
	mu       sync.Mutex
	failures int           // in a row
	away     bool          // until recover
	every    time.Duration // between two checks of a service that is away; 0: a second
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

// judge counts the end of a request, and reports whether the service has become away by it.
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

// recover marks the service as working.
func (h *health) recover() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures, h.away = 0, false
}

func (h *health) pause() time.Duration {
	if h.every > 0 {
		return h.every
	}
	return time.Second
}
