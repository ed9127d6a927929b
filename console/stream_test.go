package console

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/event/journal"
)

// streaming returns a server of a console over a book, and the book.
func streaming(t *testing.T) (*httptest.Server, *journal.Book) {
	t.Helper()
	book := newBook()
	p := listening("127.0.0.1:7070")
	p.Book = book
	server := httptest.NewServer(show(Config{}, p))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close(); book.Close() })
	return server, book
}

// streamed is an event as a client receives it.
type streamed struct{ id, kind, data string }

// watch returns the next n events of a stream that a client resumes after an id.
func watch(t *testing.T, server *httptest.Server, after string, n int) (all []streamed) {
	t.Helper()
	ctx, leave := context.WithTimeout(t.Context(), time.Minute)
	defer leave()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/-/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", after)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("got %d of type %q", resp.StatusCode, kind)
	}
	var e streamed
	for lines := bufio.NewScanner(resp.Body); len(all) < n; {
		if !lines.Scan() {
			t.Fatalf("the stream ended after %v: %v", all, lines.Err())
		}
		key, value, _ := strings.Cut(lines.Text(), ": ")
		switch key {
		case "id":
			e.id = value
		case "event":
			e.kind = value
		case "data":
			e.data = value
		case "":
			if e != (streamed{}) {
				all = append(all, e)
			}
			e = streamed{}
		}
	}
	return all
}

func TestEventsAreStreamed(t *testing.T) {
	server, book := streaming(t)
	book.RecordExchange(new(conversed()))
	book.Settle()
	first := watch(t, server, "", 1)[0]
	if first.kind != "" || first.id != "1" {
		t.Fatalf("a new client gets %+v", first)
	}
	book.RecordExchange(new(conversed()))
	book.RecordSummary(event.Summary{Kind: event.SummaryStarted})
	compacted := conversed()
	compacted.Compaction = event.Compaction{Kind: event.CompactionCompleted, FilesRead: []string{"secret.go"}}
	book.RecordExchange(new(compacted))
	book.Settle()
	got := watch(t, server, first.id, 4)
	for i, want := range []string{"exchange", "summary", "compaction", "exchange"} {
		isSecret := strings.Contains(got[i].data, "secret.go") // words of the conversation, which only the owner sees
		if got[i].kind != want || !strings.HasPrefix(got[i].data, "{") || isSecret {
			t.Errorf("missed event %d is %+v, want kind %s", i, got[i], want)
		}
	}
	if again := watch(t, server, "99", 1)[0]; again.kind != "reset" || again.id != got[3].id {
		t.Errorf("after an unknown id there is %+v", again)
	}
}
