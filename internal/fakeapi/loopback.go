// Package loopback is what scripted servers of an API have in common.
//
// It promises that a Listener answers on a port of 127.0.0.1 until Close, which cuts what is open; that a Stage takes
// each turn once and keeps each request; and that answers and events are written in one way by all of them. It knows no
// API.
package fakeapi

import (
	"fmt"
	"net"
	"net/http"
	"time"
)

// A Listener serves one handler. The zero value listens nowhere, and may be closed.
type Listener struct {
	listener net.Listener
	http     *http.Server
}

// Listen serves h on a free port.
func Listen(h http.Handler) (*Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen on 127.0.0.1: %w", err)
	}
	l := &Listener{listener, &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}}
	go func() { _ = l.http.Serve(listener) }()
	return l, nil
}

// URL returns scheme, host and port, without a slash at the end.
func (l *Listener) URL() string { return "http://" + l.listener.Addr().String() }

// Close stops listening and cuts what is open.
func (l *Listener) Close() {
	if l.http != nil {
		_ = l.http.Close()
	}
}

// WriteJSON answers with text, which is JSON.
func WriteJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// An Event is one of a stream.
type Event struct {
	Name string
	Data []byte
}

// NewEvent makes an event with its name as the type.
func NewEvent(name string, fields map[string]any) Event {
	fields["type"] = name
	return Event{name, Encode(fields)}
}

// WriteEvents answers with events, each at once.
func WriteEvents(w http.ResponseWriter, events []Event) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	for _, e := range events {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Name, e.Data)
		_ = out.Flush()
	}
}

// pieceBytes is how much of a text one event has.
const pieceBytes = 64

// CutUp returns a text in pieces as streams have them, none of them empty.
func CutUp(text string) []string {
	var all []string
	begin := 0
	for i := range text {
		if i-begin >= pieceBytes {
			all = append(all, text[begin:i])
			begin = i
		}
	}
	if begin < len(text) {
		all = append(all, text[begin:])
	}
	return all
}
