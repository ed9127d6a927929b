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
	tick := time.NewTicker(streamEvery)
	defer tick.Stop()
	var text bytes.Buffer
	text.WriteString("retry: 2000\n\n")
	id := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since"))
	seen := o.program.Book.Now()
	last, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		last = math.MaxUint64 // begin with the next event
	}
	for silent := 0; ; silent++ {
		events, newest, whole := o.program.Book.Since(last)
		if !whole {
			fmt.Fprintf(&text, "id: %d\n", newest)
			if last != math.MaxUint64 {
				text.WriteString("event: reset\ndata: {}\n")
			}
			text.WriteByte('\n')
			last, events = newest, nil
		}
		for _, e := range events {
			last = *e.Seq()
			kind, content := "exchange", any(e.Exchange)
			switch {
			case e.Summary != nil:
				kind, content = "summary", e.Summary
			case e.Compaction != nil:
				shown := *e.Compaction
				if !isOwner(r) {
					shown.FilesRead, shown.FilesWritten = nil, nil
				}
				kind, content = "compaction", &shown
			}
			data, _ := json.Marshal(content) // events can be encoded
			fmt.Fprintf(&text, "id: %d\nevent: %s\ndata: %s\n\n", last, kind, data)
		}
		now := o.program.Book.Now()
		for _, c := range o.program.Book.Expiring(seen.Add(time.Minute), now.Add(time.Minute)) {
			data, _ := json.Marshal(c) // clocks can be encoded; these events are not kept, so they have no id
			fmt.Fprintf(&text, "event: cache\ndata: %s\n\n", data)
		}
		seen = now
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
