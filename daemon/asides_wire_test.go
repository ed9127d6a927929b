package daemon

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// speaks is an upstream that answers each connection with these bytes, the first with the first, and closes it.
func speaks(t *testing.T, answers ...string) (url string, asked func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	heads := make(chan int, 100)
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			heads <- n
			piece := make([]byte, 64<<10)
			for length := -1; length != 0; { // the whole request comes in few pieces
				k, err := c.Read(piece)
				if err != nil {
					break
				}
				head, body, whole := strings.Cut(string(piece[:k]), "\r\n\r\n")
				if whole {
					_, _ = fmt.Sscanf(head[strings.Index(head, "Content-Length: "):], "Content-Length: %d", &length)
					k = len(body)
				}
				length -= k
			}
			_, _ = io.WriteString(c, answers[min(n, len(answers)-1)])
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String(), func() int { return len(heads) }
}

// streamOf is an answer whose end is that of its connection.
func streamOf(events ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: " +
		strings.Join(events, "\n\ndata: ") + "\n\n"
}

// TestAStreamWithoutALengthIsCompleteOnlyWithItsEnd: in whatever round it breaks off.
func TestAStreamWithoutALengthIsCompleteOnlyWithItsEnd(t *testing.T) {
	says := func(delta, why string) string {
		return `{"id":"a","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + why + `}]}`
	}
	text, end := says(`{"role":"assistant","content":"Hi"}`, "null"), says("{}", `"stop"`)
	call := says(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"epitome_recall","arguments":"{}"}}]}`, "null")
	asks := []string{text, call, says("{}", `"tool_calls"`), "[DONE]"}
	f := func(whole bool, rounds int, answers ...string) {
		t.Helper()
		url, asked := speaks(t, answers...)
		k := besides(t, t.TempDir(), url, nil)
		defer k.end(t)
		resp, err := http.Post(k.url()+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"Which?"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		got, err := io.ReadAll(resp.Body)
		if (err == nil) != whole || strings.Contains(string(got), "[DONE]") != whole || asked() != rounds {
			t.Errorf("%d requests, %v: %s", asked(), err, got)
		}
	}
	f(true, 1, streamOf(text, end, "[DONE]"))
	f(false, 1, streamOf(text))
	f(false, 1, streamOf(text, call))
	f(false, 2, streamOf(asks...), streamOf(text))
	f(false, 2, streamOf(asks...), streamOf())
	f(true, 2, streamOf(asks...), streamOf(text, end, "[DONE]"))
}
