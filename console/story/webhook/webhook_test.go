package webhook

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/console/story"
	"epitome/event"
)

// receiver is a server that answers as it is told, and notes what came.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int // of the next answers; 200 when there are none
	bodies   []string
	log      bytes.Buffer
}

func receive(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{statuses: statuses}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		body, _ := io.ReadAll(q.Body)
		if q.Method != http.MethodPost || q.Header.Get("Content-Type") != "application/json" {
			body = []byte(q.Method)
		}
		r.bodies = append(r.bodies, string(body))
		if len(r.statuses) > 0 {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(r.statuses[0])
			r.statuses = r.statuses[1:]
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// hook posts to a path with a secret in it.
func (r *receiver) hook(kinds ...string) *Hook {
	return New(Options{
		URL: r.URL + "/hidden?key=hidden", Kinds: kinds, Pause: time.Microsecond,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	})
}

// warning is an event of that number.
func warning(seq uint64) story.Entry {
	return story.Entry{Warning: &event.Warning{Seq: seq, Reason: "budget"}}
}

func TestEventsOfTheChosenKindsArePosted(t *testing.T) {
	r := receive(t)
	h := r.hook(story.KindWarning, story.KindSummary)
	h.Offer(story.Entry{Exchange: &event.Exchange{Seq: 1}})
	h.Offer(warning(2))
	h.Offer(story.Entry{Compaction: &event.Compaction{Seq: 3}})
	h.Offer(story.Entry{Summary: &event.Summary{Seq: 4}})
	r.wait(2)
	h.Close()
	want := `{"warning":{"seq":2,"reason":"budget"}} {"summary":{"seq":4}}`
	if got := strings.Join(r.bodies, " "); got != want || h.CountLost() != 0 {
		t.Errorf("got %s, want %s; %d lost", got, want, h.CountLost())
	}
}

func TestFailuresAreTriedAgain(t *testing.T) {
	f := func(requests int, lost uint64, lines int, statuses ...int) {
		t.Helper()
		r := receive(t, statuses...)
		h := r.hook(story.KindWarning)
		h.Offer(warning(1))
		r.wait(requests)
		h.Offer(warning(2))
		r.wait(requests + 1)
		h.Close()
		text := r.log.String()
		if len(r.bodies) != requests+1 || h.CountLost() != lost || strings.Count(text, "\n") != lines {
			t.Errorf("%v: %d requests, %d lost, log %s", statuses, len(r.bodies), h.CountLost(), text)
		}
		if strings.Contains(text, "hidden") {
			t.Errorf("the log has the URL: %s", text)
		}
	}
	f(1, 0, 0)
	f(2, 0, 0, 500)
	f(4, 0, 0, 503, 429, 500)
	f(6, 1, 2, 500, 500, 500, 500, 500, 500) // given up, said, and then it goes again
	f(1, 1, 2, 400)
	f(1, 1, 2, 302) // and not followed
}

// wait until that many requests have come.
func (r *receiver) wait(requests int) {
	for {
		r.mu.Lock()
		n := len(r.bodies)
		r.mu.Unlock()
		if n >= requests {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestNobodyWaitsForAReceiver(t *testing.T) {
	hold, came := make(chan struct{}), make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case came <- struct{}{}:
		default:
		}
		<-hold
	}))
	defer s.Close()
	h := New(Options{
		URL: s.URL, Kinds: []string{story.KindWarning}, Pause: time.Microsecond, Log: slog.New(slog.DiscardHandler),
	})
	h.Offer(warning(1))
	<-came
	for i := range mostWaiting + 5 { // would wait for ever if it waited
		h.Offer(warning(uint64(i)))
	}
	if n := h.CountLost(); n != 5 {
		t.Errorf("%d are lost", n)
	}
	close(hold)
	for len(h.in) > 0 { // Close would not wait for all of them
		time.Sleep(time.Millisecond)
	}
	h.Close()
	if n := h.CountLost(); n != 5 {
		t.Errorf("in the end %d are lost", n)
	}
}

func TestNobodyListens(t *testing.T) {
	r := receive(t)
	r.Close()
	h := r.hook(story.KindWarning)
	for i := range 3 {
		h.Offer(warning(uint64(i)))
	}
	h.Close()
	if text := r.log.String(); h.CountLost() != 3 || strings.Count(text, "\n") != 1 || strings.Contains(text, "hidden") {
		t.Errorf("%d lost, log %s", h.CountLost(), text)
	}
	none := New(Options{Kinds: []string{story.KindWarning}})
	none.Offer(warning(1))
	none.Close()
	if fmt.Sprint(none.CountLost()) != "0" {
		t.Error("a hook without a URL has lost something")
	}
}
