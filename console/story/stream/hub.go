// Package stream is events as they happen, over HTTP, for pages and commands that watch.
//
// It promises that nobody who watches slows the writer: what a watcher cannot take is left out, and it is told so; that
// a watcher who comes back gets what it has missed once, or is told to begin anew; and that there are only so many.
package stream

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"epitome/console/story"
)

const (
	mostWatchers = 32
	mostWaiting  = 256 // events that wait for a watcher
)

// Hub hands events to those who watch. Its methods may be called from any goroutine. Make one with New.
type Hub struct {
	boot string // names this process in the ids of events: another one may count anew

	mu       sync.Mutex
	watchers map[*watcher]struct{}
}

// watcher is one who watches.
type watcher struct {
	in     chan story.Entry
	missed atomic.Uint64 // events that there was no room for, since it was told so
}

// New returns a Hub that nobody watches.
func New() *Hub {
	var boot [4]byte
	_, _ = rand.Read(boot[:]) // it cannot fail
	return &Hub{boot: hex.EncodeToString(boot[:]), watchers: map[*watcher]struct{}{}}
}

// Publish hands an event to all who watch. It does not wait.
func (h *Hub) Publish(n story.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) == 0 {
		return
	}
	for w := range h.watchers {
		select {
		case w.in <- n:
		default:
			w.missed.Add(1)
		}
	}
}

// CountWatchers is how many watch.
func (h *Hub) CountWatchers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers)
}

// enter lets one more watch, unless there are too many.
func (h *Hub) enter() (w *watcher, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) >= mostWatchers {
		return nil, false
	}
	w = &watcher{in: make(chan story.Entry, mostWaiting)}
	h.watchers[w] = struct{}{}
	return w, true
}

func (h *Hub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
}

// idOf is the id of an event of that number.
func (h *Hub) idOf(seq uint64) string { return h.boot + "-" + strconv.FormatUint(seq, 10) }

// parseID reads the id of an event of this process.
func (h *Hub) parseID(id string) (seq uint64, ok bool) {
	boot, number, found := strings.Cut(id, "-")
	seq, err := strconv.ParseUint(number, 10, 64)
	return seq, found && err == nil && boot == h.boot
}
