package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
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
	last, isReset := o.seqOf(id), id != ""
	for silent := 0; ; silent++ {
		events, newest, whole := o.program.Book.Since(last)
		if !whole {
			last, events = newest, nil
			fmt.Fprintf(&text, "id: %s-%d\n", o.boot, last)
			if isReset {
				text.WriteString("event: reset\ndata: {}\n")
			}
			text.WriteByte('\n')
		}
		isReset = true
		for _, e := range events {
			c := e.Common()
			last = *c.Seq
			data, _ := json.Marshal(c.Event) // events can be encoded
			fmt.Fprintf(&text, "id: %s-%d\nevent: %s\ndata: %s\n\n", o.boot, last, c.Kind, data)
		}
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

// seqOf returns the number of the event with an id of this process. After any other id there is nothing to send.
func (o *Console) seqOf(id string) uint64 {
	boot, number, _ := strings.Cut(id, "-")
	seq, err := strconv.ParseUint(number, 10, 64)
	if boot != o.boot || err != nil {
		return math.MaxUint64
	}
	return seq
}
