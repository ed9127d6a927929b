package load

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestEventCarriesItsTimeThroughItsChunk(t *testing.T) {
	sent := time.Unix(1700000000, 123456789)
	b := NewBody(bufio.NewReader(bytes.NewReader(AppendEvent(nil, sent))), Head{Chunked: true})
	event := make([]byte, 1000)
	n, err := b.Read(event)
	if err != nil || !bytes.HasSuffix(event[:n], []byte("}\n\n")) {
		t.Fatalf("event %q, error %v", event[:n], err)
	}
	got, ok := EventSent(strings.TrimSpace(string(event[:n])))
	if !ok || !got.Equal(sent) {
		t.Errorf("event's time is %v (%v), want %v", got, ok, sent)
	}
	for _, line := range []string{"", "data: [DONE]", `data: {"sent":x}`} {
		if at, ok := EventSent(line); ok {
			t.Errorf("line %q has the time %v, want none", line, at)
		}
	}
}

func TestTargetQuery(t *testing.T) {
	f := func(line, key, want string) {
		t.Helper()
		if got := TargetQuery(line).Get(key); got != want {
			t.Errorf("targetQuery(%q) has %s=%q, want %q", line, key, got, want)
		}
	}
	f("POST /v1/chat/completions?bench=stream&events=3 HTTP/1.1", "events", "3")
	f("POST /v1/chat/completions HTTP/1.1", "bench", "")
	f("POST /?a=%zz HTTP/1.1", "a", "")
	f("", "a", "")
}
