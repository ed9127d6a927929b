package fakeapi

import (
	"crypto/tls"
	"fmt"
	"net"
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
	done     chan struct{} // closed by Close
	closing  sync.Once
	running  sync.WaitGroup // the accept loop, two goroutines per connection
	journal  *journal

	mu       sync.Mutex // guards what follows; it may be held while the journal is written
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
		done:    make(chan struct{}),
		journal: newJournal(),
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

func (u *Upstream) isClosed() bool {
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
			if !u.isClosed() {
				u.journal.enterProblem("cannot accept connections any more: %v", err)
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
	if u.isClosed() {
		_ = raw.Close()
		return
	}
	u.accepted++
	c := newConn(u, raw, u.accepted)
	u.open[c] = true
	u.journal.record("accept %d", c.n)
	u.running.Go(func() { c.in.pump(c.stream) })
	u.running.Go(c.serve)
}

func (u *Upstream) forget(c *conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.open, c)
	u.journal.record("closed %d", c.n)
}

// enterRequest enters a request whose head is read and picks its section, nil for none.
func (u *Upstream) enterRequest(r *Request) *section {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.journal.enterRequest(r)
	for _, sec := range u.script.sections {
		if sec.matches(r.Method, r.Target) && (sec.repeat || !u.played[sec]) {
			u.played[sec] = true
			return sec
		}
	}
	u.journal.enterProblem("there is no section left for %s %s", r.Method, r.Target)
	return nil
}

// UnplayedSections returns the sections that no request has been played so far.
func (u *Upstream) UnplayedSections() []string {
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
