package load

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ChatPath is where measured requests of Chat Completions go. The query says what the upstream answers. Without one: a
// small JSON answer; bench=stream&events=N: N paced events; bench=flood&events=N: N events at once; bench=idle: one
// event, then silence.
const ChatPath = "/v1/chat/completions"

// StreamHead is the head of a streamed answer.
const StreamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n" +
	"Transfer-Encoding: chunked\r\n\r\n"

// Serve serves the scripted provider of a load run on listen (host:port) until ctx ends.
func Serve(ctx context.Context, listen string) error {
	ln, err := Listen(listen)
	if err != nil {
		return err
	}
	return AcceptEach(ctx, ln, ServeConn)
}

// wholeAnswer returns the plain answer to a request with a body of so many bytes.
func wholeAnswer(request int64) []byte {
	answer := ChatAnswer(request)
	whole := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		len(answer))
	return append(whole, answer...)
}

// AcceptEach runs serve for each connection in a goroutine of its own until ctx ends; then it closes the listener and
// all connections and waits for the goroutines. It closes each connection after its serve.
func AcceptEach(ctx context.Context, ln net.Listener, serve func(net.Conn)) error {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = ln.Close() })
	for {
		conn, err := ln.Accept()
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot accept on %s: %w", ln.Addr(), err)
		}
		running.Go(func() {
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			defer stop()
			defer conn.Close()
			serve(conn)
		})
	}
}

// changedAnswer answers a request whose body is not as long as the client made it. What is measured is the way of
// bodies that pass unchanged.
const changedAnswer = "HTTP/1.1 500 The body was changed on its way\r\nContent-Length: 0\r\n\r\n"

// ServeConn answers one request after the other until the connection ends.
func ServeConn(conn net.Conn) {
	br := bufio.NewReaderSize(conn, BufferSize)
	scratch := make([]byte, BufferSize)
	var whole []byte    // the plain answer, made before
	length := int64(-1) // to a request of so many bytes
	for {
		h, err := ReadHead(br)
		if err != nil {
			return
		}
		got, err := NewBody(br, h).Drain(scratch)
		if err != nil {
			return
		}
		query := TargetQuery(h.First)
		switch kind := query.Get("bench"); {
		case h.Made >= 0 && h.Made != got:
			_, err = conn.Write([]byte(changedAnswer))
		case kind == "stream":
			err = sendEvents(conn, query, paced)
		case kind == "flood":
			err = sendEvents(conn, query, func(int) {})
		case kind == "idle":
			_, err = conn.Write(AppendEvent([]byte(StreamHead), time.Now()))
		default:
			if length != got {
				whole, length = wholeAnswer(got), got
			}
			_, err = conn.Write(whole)
		}
		if err != nil {
			return
		}
	}
}

// TargetQuery returns the query of a request line, empty if it has none.
func TargetQuery(requestLine string) url.Values {
	_, rest, _ := strings.Cut(requestLine, "?")
	raw, _, _ := strings.Cut(rest, " ")
	if raw == "" {
		return nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil
	}
	return query
}

// paced waits before event i: 10 to 20 ms, in a fixed pattern.
func paced(i int) { time.Sleep(10*time.Millisecond + time.Duration(i*7%11)*time.Millisecond) }

// sendEvents writes a stream of events, each in one chunk and one write.
func sendEvents(conn net.Conn, query url.Values, rest func(i int)) error {
	events, err := strconv.Atoi(query.Get("events"))
	if err != nil {
		return fmt.Errorf("cannot read number of events %q: %w", query.Get("events"), err)
	}
	if _, err = conn.Write([]byte(StreamHead)); err != nil {
		return err
	}
	buf := make([]byte, 0, 512)
	for i := range events {
		rest(i)
		if _, err = conn.Write(AppendEvent(buf[:0], time.Now())); err != nil {
			return err
		}
	}
	const end = "data: [DONE]\n\n"
	_, err = fmt.Fprintf(conn, "%x\r\n%s\r\n0\r\n\r\n", len(end), end)
	return err
}

const (
	eventOpen = `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","model":"bench-model",` +
		`"choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}],"sent":`
	eventShut = "}\n\n"
)

// AppendEvent appends one SSE event as one chunk; it carries the time of sending in Unix nanoseconds.
func AppendEvent(dst []byte, now time.Time) []byte {
	sent := strconv.FormatInt(now.UnixNano(), 10)
	dst = strconv.AppendInt(dst, int64(len(eventOpen)+len(sent)+len(eventShut)), 16)
	dst = append(append(dst, "\r\n"...), eventOpen...)
	dst = append(dst, sent...)
	return append(dst, eventShut+"\r\n"...)
}

// EventSent returns the time of sending that an event line carries; false for a line without one.
func EventSent(line string) (time.Time, bool) {
	_, tail, found := strings.Cut(line, `"sent":`)
	if !found {
		return time.Time{}, false
	}
	ns, err := strconv.ParseInt(strings.TrimRight(tail, "}"), 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(0, ns), true
}
