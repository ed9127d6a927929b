package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event/journal"
)

const (
	mostWatchers = 32                     // that stream events at once
	streamEvery  = 250 * time.Millisecond // events are sent at most that often
	aliveEvery   = 60                     // rounds without an event, after which a comment is sent
)

// events streams events as they happen, as server-sent events. A client that comes back with the id of the last event
// that it received gets the ones that it missed, or the event "reset" if these are no longer kept. A client that reads
// slowly delays nobody: events are read from the book when the client has taken the ones before.
func (o *Console) events(w http.ResponseWriter, r *http.Request) {
	defer o.watchers.Add(-1)
	if o.watchers.Add(1) > mostWatchers {
		w.Header().Set("Retry-After", "30")
		refuse(w, http.StatusServiceUnavailable, "too many clients watch events: close a page, or poll /-/api/")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies in between
	if r.Method == http.MethodHead {
		return
	}
	s := stream{book: o.program.Book, forOwner: isOwner(r), last: math.MaxUint64}
	id := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since"))
	if last, err := strconv.ParseUint(id, 10, 64); err == nil {
		s.last = last
	}
	s.text.WriteString("retry: 2000\n\n")
	tick := time.NewTicker(streamEvery)
	defer tick.Stop()
	for silent := 0; ; silent++ {
		s.addEvents()
		if s.text.Len() == 0 && silent >= aliveEvery {
			s.text.WriteString(":\n\n")
		}
		if s.text.Len() > 0 {
			silent = 0
			if _, err := s.text.WriteTo(w); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// stream is what a client that watches events gets.
type stream struct {
	book     *journal.Book
	forOwner bool
	last     uint64       // number of the newest event that it got; math.MaxUint64: it begins with the next one
	text     bytes.Buffer // not sent yet
}

// addEvents adds the events since the last one.
func (s *stream) addEvents() {
	events, newest, whole := s.book.Since(s.last)
	if !whole {
		fmt.Fprintf(&s.text, "id: %d\n", newest)
		if s.last != math.MaxUint64 {
			s.text.WriteString("event: reset\ndata: {}\n")
		}
		s.text.WriteByte('\n')
		s.last = newest
		return
	}
	for _, e := range events {
		s.last = *e.Seq()
		if e.Compaction != nil && !s.forOwner {
			shown := *e.Compaction
			shown.FilesRead, shown.FilesWritten = nil, nil
			e.Compaction = &shown
		}
		line, _ := json.Marshal(e) // an object with the event under the name of its kind
		gjson.ParseBytes(line).ForEach(func(kind, event gjson.Result) bool {
			fmt.Fprintf(&s.text, "id: %d\nevent: %s\ndata: %s\n\n", s.last, kind.Str, event.Raw)
			return true
		})
	}
}
