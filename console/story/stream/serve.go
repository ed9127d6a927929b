package stream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	"epitome/console/inert"
	"epitome/console/reply"
	"epitome/console/story"
)

// Source has the events that have happened.
type Source interface {
	// Since returns the events behind that number, and the number of the newest one. whole is false if some of them
	// are not kept any more, or there never was an event of that number.
	Since(seq uint64) (behind []story.Entry, newest uint64, whole bool)
}

const (
	pulse = 15 * time.Second       // between signs of life
	pause = 250 * time.Millisecond // between what is sent to one watcher
	batch = mostWaiting            // events that are sent at once
)

// Handler serves the events of a hub, those of source first that a watcher has missed.
func Handler(h *Hub, source Source) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, ok := h.enter()
		if !ok {
			w.Header().Set("Retry-After", "30")
			reply.Refuse(w, http.StatusServiceUnavailable,
				fmt.Sprintf("%d watch events already: close a page, or ask for /-/api/ now and then", mostWatchers))
			return
		}
		defer h.leave(to)
		header := w.Header()
		header.Set("Content-Type", "text/event-stream")
		header.Set("Cache-Control", "no-store")
		header.Set("X-Accel-Buffering", "no") // for servers in between
		if r.Method == http.MethodHead {
			return
		}
		line := &line{hub: h, w: w, ended: r.Context().Done()}
		line.begin(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")), source)
		line.follow(to)
	})
}

// line is what one watcher is sent.
type line struct {
	hub   *Hub
	w     http.ResponseWriter
	ended <-chan struct{}
	text  bytes.Buffer // that has not been sent
	last  uint64       // number of the last event in it, or before it
	err   error        // of sending
}

// begin sends what a watcher has missed since an id, or says that it is to begin anew. An empty id has missed nothing.
func (l *line) begin(id string, source Source) {
	l.text.WriteString("retry: 2000\n")
	seq, known := l.hub.parseID(id)
	if !known {
		seq = math.MaxUint64 // nothing is behind it: all that is kept would take milliseconds to read
	}
	behind, newest, whole := source.Since(seq)
	if !whole {
		l.last = newest
		fmt.Fprintf(&l.text, "id: %s\n", l.hub.idOf(newest))
		if id != "" {
			l.text.WriteString("event: reset\ndata: {}\n")
		}
		l.text.WriteByte('\n')
		l.send()
		return
	}
	l.last = seq
	l.text.WriteByte('\n')
	for i, n := range behind {
		if l.add(n); i%batch == batch-1 {
			l.send()
		}
	}
	l.send()
}

// follow sends events as they come.
func (l *line) follow(from *watcher) {
	beat := time.NewTicker(pulse)
	defer beat.Stop()
	for l.err == nil {
		select {
		case <-l.ended:
			return
		case <-beat.C:
			l.text.WriteString(":\n\n")
			l.send()
			continue
		case n := <-from.in:
			l.add(n)
		}
		l.addWaiting(from)
		l.send()
		select {
		case <-l.ended:
			return
		case <-time.After(pause):
		}
	}
}

// addWaiting adds what waits, and what was left out behind that.
func (l *line) addWaiting(from *watcher) {
	for range batch {
		select {
		case n := <-from.in:
			l.add(n)
			continue
		default:
		}
		break
	}
	if missed := from.missed.Swap(0); missed > 0 {
		fmt.Fprintf(&l.text, "event: gap\ndata: {\"missed\":%d}\n\n", missed)
	}
}

// add adds an event, unless it was sent already.
func (l *line) add(n story.Entry) {
	if n.Seq() <= l.last {
		return
	}
	l.last = n.Seq()
	var told any
	switch n.Kind() {
	case story.KindExchange:
		told = n.Exchange
	case story.KindCompaction:
		told = n.Compaction
	case story.KindWarning:
		told = n.Warning
	case story.KindSummary:
		told = n.Summary
	}
	data, err := json.Marshal(told)
	if err != nil {
		l.err = err
		return
	}
	fmt.Fprintf(&l.text, "id: %s\nevent: %s\ndata: %s\n\n", l.hub.idOf(l.last), n.Kind(), inert.JSON(data))
}

// send sends what has come together.
func (l *line) send() {
	if l.err == nil && l.text.Len() > 0 {
		_, l.err = l.w.Write(l.text.Bytes())
		l.w.(http.Flusher).Flush() //nolint:forcetypeassert // the proxy's writers flush
	}
	l.text.Reset()
}
