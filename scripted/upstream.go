package scripted

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// longestPause is how long a script may have the upstream rest at once.
const longestPause = 30 * time.Second

// longestWait bounds every wait within a section for somebody else: each await and write. It is long because machines
// can be busy; it only ends what hangs.
const longestWait = 2 * time.Minute

// An Upstream plays a script on a loopback port. All its methods may be called
// from any goroutine, before and after Close.
type Upstream struct {
	script   *Script
	listener net.Listener
	tls      *tls.Config   // nil for plain connections
	longest  time.Duration // longestWait, but for tests
	done     chan struct{} // closed by Close
	closing  sync.Once
	running  sync.WaitGroup // the accept loop, two goroutines per connection

	mu       sync.Mutex    // guards what follows
	changed  chan struct{} // closed and replaced when trace grows
	trace    []string
	requests []*Request
	problems []string
	played   map[*section]bool
	open     map[*conn]bool
	accepted int
	signals  map[string]chan struct{} // by name; closed once released
}

// Start plays s on a free port of 127.0.0.1 until Close.
func Start(s *Script) (*Upstream, error) {
	return newUpstream(s).start()
}

// StartTLS is Start over TLS, with a certificate for 127.0.0.1 and localhost.
// It returns the PEM form of the authority that signed it, made for this call.
func StartTLS(s *Script) (u *Upstream, caPEM []byte, err error) {
	u = newUpstream(s)
	u.tls, caPEM, err = newIdentity(time.Now())
	if err != nil {
		return nil, nil, err
	}
	u, err = u.start()
	return u, caPEM, err
}

func newUpstream(s *Script) *Upstream {
	return &Upstream{
		script:  s,
		longest: longestWait,
		done:    make(chan struct{}),
		changed: make(chan struct{}),
		played:  map[*section]bool{},
		open:    map[*conn]bool{},
		signals: map[string]chan struct{}{},
	}
}

func (u *Upstream) start() (*Upstream, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot start a scripted upstream: %w", err)
	}
	u.listener = ln
	u.running.Go(u.accept)
	return u, nil
}

// Addr returns host and port.
func (u *Upstream) Addr() string { return u.listener.Addr().String() }

// URL returns scheme, host and port, without a slash at the end.
func (u *Upstream) URL() string {
	if u.tls != nil {
		return "https://" + u.Addr()
	}
	return "http://" + u.Addr()
}

// Close stops listening, cuts all connections and returns when every goroutine
// of the upstream has ended. What it cuts short is no problem.
func (u *Upstream) Close() {
	u.closing.Do(func() {
		close(u.done)
		_ = u.listener.Close()
		u.mu.Lock()
		for c := range u.open {
			c.cut()
		}
		u.mu.Unlock()
	})
	u.running.Wait()
}

func (u *Upstream) closed() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

func (u *Upstream) accept() {
	for {
		raw, err := u.listener.Accept()
		if err != nil {
			if !u.closed() {
				u.reportProblem("cannot accept connections any more: %v", err)
			}
			return
		}
		u.adopt(raw.(*net.TCPConn))
	}
}

// adopt serves a connection unless the upstream is closed by now.
func (u *Upstream) adopt(raw *net.TCPConn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed() {
		_ = raw.Close()
		return
	}
	u.accepted++
	c := newConn(u, raw, u.accepted)
	u.open[c] = true
	u.recordLocked("accept %d", c.n)
	u.running.Go(func() { c.in.pump(c.stream) })
	u.running.Go(c.serve)
}

func (u *Upstream) forget(c *conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.open, c)
	u.recordLocked("closed %d", c.n)
}

// enterRequest enters a request whose head is read and picks its section, nil for none.
func (u *Upstream) enterRequest(r *Request) *section {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests = append(u.requests, r)
	u.recordLocked("request %d %s %s", r.Conn, r.Method, r.Target)
	for _, sec := range u.script.sections {
		if sec.matches(r.Method, r.Target) && (sec.repeat || !u.played[sec]) {
			u.played[sec] = true
			return sec
		}
	}
	u.problems = append(u.problems, fmt.Sprintf("there is no section left for %s %s", r.Method, r.Target))
	return nil
}

// enterBody enters what came of a body.
func (u *Upstream) enterBody(r *Request, body []byte, trailer [][2]string, complete bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r.Body, r.Trailer, r.Complete = body, trailer, complete
	if complete {
		u.recordLocked("body %d %d", r.Conn, len(body))
	}
}

// Requests returns the requests whose heads have arrived so far, in that order.
func (u *Upstream) Requests() []Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make([]Request, len(u.requests))
	for i, r := range u.requests {
		all[i] = *r
	}
	return all
}

// Problems returns what went against the script so far: failed expectations,
// requests without a section, malformed requests, waits that took too long.
func (u *Upstream) Problems() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.problems...)
}

// Unplayed returns the sections that no request has been played so far.
func (u *Upstream) Unplayed() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var names []string
	for _, sec := range u.script.sections {
		if !u.played[sec] {
			names = append(names, sec.String())
		}
	}
	return names
}

func (u *Upstream) reportProblem(format string, args ...any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.problems = append(u.problems, fmt.Sprintf(format, args...))
}

// Release lets the sections pass that wait for name, now or later.
func (u *Upstream) Release(name string) {
	signal := u.signal(name)
	u.mu.Lock()
	defer u.mu.Unlock()
	select {
	case <-signal:
	default:
		close(signal)
	}
}

func (u *Upstream) signal(name string) chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.signals[name] == nil {
		u.signals[name] = make(chan struct{})
	}
	return u.signals[name]
}

// Trace returns what has happened so far, in order; the package doc lists the lines.
func (u *Upstream) Trace() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.trace...)
}

func (u *Upstream) record(format string, args ...any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.recordLocked(format, args...)
}

func (u *Upstream) recordLocked(format string, args ...any) {
	u.trace = append(u.trace, fmt.Sprintf(format, args...))
	close(u.changed)
	u.changed = make(chan struct{})
}

// Await blocks until a line of the trace begins with the words of prefix, so
// that "sent 1" finds "sent 1 head 200" but not "sent 12 head 200".
func (u *Upstream) Await(ctx context.Context, prefix string) error {
	return u.AwaitN(ctx, 1, prefix)
}

// AwaitN is Await for n such lines.
func (u *Upstream) AwaitN(ctx context.Context, n int, prefix string) error {
	for {
		u.mu.Lock()
		changed, found, trace := u.changed, u.countLocked(prefix), u.trace
		u.mu.Unlock()
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

func (u *Upstream) countLocked(prefix string) int {
	found := 0
	for _, line := range u.trace {
		if rest, ok := strings.CutPrefix(line, prefix); ok && (rest == "" || rest[0] == ' ') {
			found++
		}
	}
	return found
}
