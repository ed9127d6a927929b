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
	last := uint64(math.MaxUint64) // number of the newest event that the client got: it begins with the next one
	id := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since"))
	if known, err := strconv.ParseUint(id, 10, 64); err == nil {
		last = known
	}
	text := bytes.NewBufferString("retry: 2000\n\n") // not sent yet
	tick := time.NewTicker(streamEvery)
	defer tick.Stop()
	for silent := 0; ; silent++ {
		last = o.addEvents(text, last, isOwner(r))
		if text.Len() == 0 && silent >= aliveEvery {
			text.WriteString(":\n\n")
		}
		if text.Len() > 0 {
			silent = 0
			if _, err := text.WriteTo(w); err != nil {
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

// addEvents adds the events since the last one that a client got to a text, and returns the number of the newest.
func (o *Console) addEvents(text *bytes.Buffer, last uint64, forOwner bool) uint64 {
	events, newest, whole := o.program.Book.Since(last)
	if !whole {
		fmt.Fprintf(text, "id: %d\n", newest)
		if last != math.MaxUint64 {
			text.WriteString("event: reset\ndata: {}\n")
		}
		text.WriteByte('\n')
		return newest
	}
	for _, e := range events {
		if e.Compaction != nil && !forOwner {
			shown := *e.Compaction
			shown.FilesRead, shown.FilesWritten = nil, nil
			e.Compaction = &shown
		}
		line, _ := json.Marshal(e) // an object with the event under the name of its kind
		gjson.ParseBytes(line).ForEach(func(kind, event gjson.Result) bool {
			fmt.Fprintf(text, "id: %d\nevent: %s\ndata: %s\n\n", *e.Seq(), kind.Str, event.Raw)
			return true
		})
	}
	return newest
}
