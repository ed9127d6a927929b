// Package webhook posts events to a URL, as JSON.
//
// It promises that nothing waits for it, that what it holds is bounded, and that what is not delivered is counted. It
// follows no redirect, and no line of the log has the URL, which may hold a secret. An event may come twice: one whose
// answer did not come is sent again.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"epitome/console/story"
)

// Options say what is posted, and where.
type Options struct {
	URL   string   // empty: nothing is posted
	Kinds []string // of entries
	// Pause is how long it waits after a first failure; twice as long after each further one.
	Pause time.Duration
	Log   *slog.Logger
}

const (
	mostWaiting = 1000             // events
	mostTries   = 6                // of one event
	longestTry  = 10 * time.Second // of one request
	lastTry     = 2 * time.Second  // for what waits when it is closed
)

// Hook posts events. Its methods may be called from any goroutine. Make one with New.
type Hook struct {
	o       Options
	client  *http.Client
	in      chan story.Entry
	lost    atomic.Uint64
	failing bool          // as the log has said; only the poster uses it
	stop    chan struct{} // closed by Close
	ended   chan struct{} // closed when the poster has ended
}

// New returns a Hook that posts until it is closed.
func New(o Options) *Hook {
	h := &Hook{
		o: o, in: make(chan story.Entry, mostWaiting), stop: make(chan struct{}), ended: make(chan struct{}),
		client: &http.Client{
			Timeout:       longestTry,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if o.URL == "" {
		close(h.ended)
	} else {
		go h.post()
	}
	return h
}

// Offer takes an event to be posted, if it is of a kind that is wanted. It does not wait.
func (h *Hook) Offer(n story.Entry) {
	if h.o.URL == "" || !slices.Contains(h.o.Kinds, n.Kind()) {
		return
	}
	select {
	case h.in <- n.Clone():
	default:
		h.lost.Add(1)
	}
}

// CountLost is how many events were not delivered.
func (h *Hook) CountLost() uint64 { return h.lost.Load() }

// Close tries for a moment to post what waits. It is called once.
func (h *Hook) Close() {
	close(h.stop)
	<-h.ended
}

// post is the poster.
func (h *Hook) post() {
	defer close(h.ended)
	life, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		<-h.stop
		time.AfterFunc(lastTry, end)
	}()
	for {
		select {
		case n := <-h.in:
			h.deliver(life, n)
			continue
		default:
		}
		select {
		case n := <-h.in:
			h.deliver(life, n)
		case <-h.stop:
			if len(h.in) == 0 {
				return
			}
		}
	}
}

// deliver posts one event until it is taken, or will not be.
func (h *Hook) deliver(life context.Context, n story.Entry) {
	body, err := json.Marshal(n)
	pause := h.o.Pause
	for try := 1; err == nil; try++ {
		if err = h.try(life, body); err == nil {
			h.say(nil)
			return
		}
		if errors.Is(err, errRefused) || try == mostTries {
			break
		}
		select {
		case <-life.Done():
		case <-h.stop: // one more try of each event
			try = max(try, mostTries-1)
		case <-time.After(pause):
		}
		err, pause = life.Err(), 2*pause
	}
	h.lost.Add(1)
	h.say(err)
}

// say writes into the log that nothing can be delivered, and that it goes again.
func (h *Hook) say(err error) {
	switch {
	case err != nil && !h.failing:
		h.o.Log.Warn("an event could not be delivered to events.webhook; epitome goes on trying with those that follow",
			"error", err.Error())
	case err == nil && h.failing:
		h.o.Log.Info("events are delivered to events.webhook again")
	}
	h.failing = err != nil
}

// errRefused says that the same request would be refused again.
var errRefused = errors.New("it was refused")

// try posts once. Its error has nothing of the URL.
func (h *Hook) try(life context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(life, http.MethodPost, h.o.URL, bytes.NewReader(body))
	if err != nil {
		return errRefused
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := h.client.Do(r)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil { // the outer one names the URL
			err = cause
		}
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection is used again
	switch {
	case resp.StatusCode < http.StatusMultipleChoices:
		return nil
	case resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("it answered %d", resp.StatusCode)
	}
	return fmt.Errorf("%w: it answered %d", errRefused, resp.StatusCode)
}
