package fakeapi

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// journal is what an upstream has received and done, and what was wrong with it. Its methods may be called from any
// goroutine.
type journal struct {
	mu       sync.Mutex    // guards all below, and the bodies of requests
	changed  chan struct{} // closed and replaced when trace grows
	trace    []string
	requests []*Request // in the order in which their heads came
	problems []string
}

func newJournal() *journal { return &journal{changed: make(chan struct{})} }

// record adds a line to the trace.
func (j *journal) record(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.recordLocked(format, args...)
}

func (j *journal) recordLocked(format string, args ...any) {
	j.trace = append(j.trace, fmt.Sprintf(format, args...))
	close(j.changed)
	j.changed = make(chan struct{})
}

// enterRequest enters a request whose head is read.
func (j *journal) enterRequest(r *Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.requests = append(j.requests, r)
	j.recordLocked("request %d %s %s", r.Conn, r.Method, r.Target)
}

// enterBody enters what came of r's body. r was entered before.
func (j *journal) enterBody(r *Request, body []byte, trailer [][2]string, complete bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Body, r.Trailer, r.Complete = body, trailer, complete
	if complete {
		j.recordLocked("body %d %d", r.Conn, len(body))
	}
}

func (j *journal) enterProblem(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.problems = append(j.problems, fmt.Sprintf(format, args...))
}

// Requests returns the requests whose heads have arrived so far, in that order.
func (u *Upstream) Requests() []Request {
	j := u.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]Request, len(j.requests))
	for i, r := range j.requests {
		all[i] = *r
	}
	return all
}

// Problems returns what went against the script so far: failed expectations,
// requests without a section, malformed requests, waits that took too long.
func (u *Upstream) Problems() []string {
	u.journal.mu.Lock()
	defer u.journal.mu.Unlock()
	return append([]string(nil), u.journal.problems...)
}

// Trace returns what has happened so far, in order; the package doc lists the lines.
func (u *Upstream) Trace() []string {
	u.journal.mu.Lock()
	defer u.journal.mu.Unlock()
	return append([]string(nil), u.journal.trace...)
}

// Await blocks until a line of the trace begins with the words of prefix, so
// that "sent 1" finds "sent 1 head 200" but not "sent 12 head 200".
func (u *Upstream) Await(ctx context.Context, prefix string) error {
	return u.AwaitN(ctx, 1, prefix)
}

// AwaitN is Await for n such lines.
func (u *Upstream) AwaitN(ctx context.Context, n int, prefix string) error {
	for {
		changed, trace := u.journal.look()
		found := countLines(trace, prefix)
		if found >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waited for %d × %q, have %d: %w; trace:\n%s",
				n, prefix, found, ctx.Err(), strings.Join(trace, "\n"))
		}
	}
}

// look returns the trace so far, and a channel that is closed when it grows.
func (j *journal) look() (changed <-chan struct{}, trace []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changed, j.trace
}

// countLines counts the lines of a trace that begin with the words of prefix.
func countLines(trace []string, prefix string) int {
	found := 0
	for _, line := range trace {
		if rest, ok := strings.CutPrefix(line, prefix); ok && (rest == "" || rest[0] == ' ') {
			found++
		}
	}
	return found
}
