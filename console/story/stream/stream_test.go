package stream

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"epitome/console/story"
	"epitome/event"
	"epitome/event/eventtest"
)

// stage is a Book whose events are streamed.
type stage struct {
	*Hub
	book   *story.Book
	server *httptest.Server
}

func open(t *testing.T) stage {
	t.Helper()
	s := stage{Hub: New()}
	s.book = story.New(story.Config{Keep: time.Hour}, story.Plugs{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Mode: func() string { return "on" }, Follow: s.Publish,
		Prices: func() story.Prices { return story.Prices{} },
	})
	s.server = httptest.NewServer(Handler(s.Hub, s.book))
	t.Cleanup(func() { s.server.CloseClientConnections(); s.server.Close(); s.book.Close() })
	return s
}

// exchanges records that many.
func (s stage) exchanges(n int) {
	for i := range n {
		s.book.RecordExchange(eventtest.Conversation())
		if i%1000 == 999 {
			s.book.Settle() // more at once than it takes are dropped
		}
	}
	s.book.Settle()
}

// watching is a client that watches.
type watching struct {
	*http.Response
	lines *bufio.Scanner
	leave context.CancelFunc
}

// watch begins to watch, behind an id.
func (s stage) watch(t *testing.T, id string) *watching {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(); _ = resp.Body.Close() })
	return &watching{resp, bufio.NewScanner(resp.Body), leave}
}

// message is one that was sent; of data, only what stands before the first number.
type message struct{ id, kind, data string }

// next is the next message that has an id or an event.
func (w *watching) next(t *testing.T) (m message) {
	t.Helper()
	for w.lines.Scan() {
		key, value, _ := strings.Cut(w.lines.Text(), ": ")
		switch key {
		case "id":
			m.id = value
		case "event":
			m.kind = value
		case "data":
			m.data = value
		case "":
			if m != (message{}) {
				return m
			}
		}
	}
	t.Fatalf("the stream has ended: %v", w.lines.Err())
	return m
}

func TestEventsComeAsTheyHappen(t *testing.T) {
	s := open(t)
	s.exchanges(3)
	w := s.watch(t, "")
	if kind := w.Header.Get("Content-Type"); kind != "text/event-stream" || w.StatusCode != 200 {
		t.Errorf("%d of type %q", w.StatusCode, kind)
	}
	if m := w.next(t); m != (message{id: s.idOf(3)}) {
		t.Errorf("first there is %+v", m)
	}
	s.exchanges(1)
	s.book.RecordWarning(event.Warning{Reason: "budget"})
	s.book.RecordCompaction(event.Compaction{Kind: "compaction_completed"})
	s.book.RecordSummary(event.Summary{Kind: "summary_started"})
	for i, want := range []message{
		{s.idOf(4), "exchange", `"id":"x-1"`}, {s.idOf(5), "warning", `"reason":"budget"`},
		{s.idOf(6), "compaction", `"kind":"compaction_completed"`}, {s.idOf(7), "summary", `"kind":"summary_started"`},
	} {
		if m := w.next(t); m.id != want.id || m.kind != want.kind || !strings.Contains(m.data, want.data) {
			t.Errorf("event %d is %+v, want %+v", i, m, want)
		}
	}
}

// Who watches in a terminal is told as who asks for JSON.
func TestNoTerminalObeysAnEvent(t *testing.T) {
	s := open(t)
	w := s.watch(t, "")
	w.next(t) // where it begins
	s.book.RecordWarning(event.Warning{Reason: "a\u009b31m\u202e\x7f"})
	if m := w.next(t); !strings.Contains(m.data, `"reason":"a\u009b31m\u202e\u007f"`) {
		t.Errorf("it comes as %q", m.data)
	}
}

func TestWhatWasMissedComesOnce(t *testing.T) {
	s := open(t)
	w := s.watch(t, "")
	s.exchanges(5)
	w.next(t) // where it begins
	seen := w.next(t).id
	w.leave()
	s.exchanges(300)
	w = s.watch(t, seen)
	s.exchanges(2)
	for seq := uint64(2); seq <= 307; seq++ {
		if m := w.next(t); m.id != s.idOf(seq) || m.kind != "exchange" {
			t.Fatalf("got %+v, want number %d", m, seq)
		}
	}
}

func TestOnlySoManyWatch(t *testing.T) {
	s := open(t)
	var last *watching
	for range mostWatchers {
		last = s.watch(t, "")
		last.next(t)
	}
	if w := s.watch(t, ""); w.StatusCode != 503 || w.Header.Get("Retry-After") == "" {
		t.Errorf("one more is answered %d", w.StatusCode)
	}
	last.leave()
	for s.CountWatchers() == mostWatchers {
		time.Sleep(time.Millisecond)
	}
	if w := s.watch(t, ""); w.StatusCode != 200 {
		t.Errorf("after one has left it is %d", w.StatusCode)
	}
}

// stuck is the connection of a reader who takes nothing until it is let go.
type stuck struct {
	*httptest.ResponseRecorder
	writing, goOn chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	select {
	case s.writing <- struct{}{}:
	default:
	}
	<-s.goOn
	return s.ResponseRecorder.Write(p)
}

func TestSlowReaderSlowsNobodyAndIsToldOfTheGap(t *testing.T) {
	s := open(t)
	slow := &stuck{httptest.NewRecorder(), make(chan struct{}, 1), make(chan struct{})}
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/-/events", nil)
		Handler(s.Hub, s.book).ServeHTTP(slow, r)
	}()
	<-slow.writing // it has begun, and takes nothing
	quick := s.watch(t, "")
	quick.next(t)
	s.exchanges(100)
	for seq := uint64(1); seq <= 100; seq++ {
		if m := quick.next(t); m.id != s.idOf(seq) {
			t.Fatalf("the quick one got %+v", m)
		}
	}
	s.exchanges(mostWaiting) // would wait for ever if it waited for the slow one
	close(slow.goOn)
	s.wait(t, func() bool { return s.waiting() == 0 })
	leave()
	<-ended
	text := slow.Body.String()
	if n := strings.Count(text, "event: exchange"); n != mostWaiting {
		t.Errorf("the slow one got %d events", n)
	}
	if want := fmt.Sprintf("event: gap\ndata: {\"missed\":%d}\n\n", 100); !strings.Contains(text, want) {
		t.Errorf("the slow one was told %.300q", text[max(0, len(text)-300):])
	}
}

// waiting is how many events wait for all who watch, those included that were left out.
func (s stage) waiting() (n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers {
		n += uint64(len(w.in)) + w.missed.Load()
	}
	return n
}

func (s stage) wait(t *testing.T, until func() bool) {
	t.Helper()
	for !until() {
		if t.Context().Err() != nil {
			t.Fatal("it does not come")
		}
		time.Sleep(time.Millisecond)
	}
}
