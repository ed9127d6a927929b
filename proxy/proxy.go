// Package proxy is one exchange on the wire: check, receive, route, shape, forward, relay, record.
//
// It promises to be transparent. A request, unless its conversation is rewritten, goes upstream with the method, raw
// target and body bytes it came with, and with every end-to-end header line in its place and spelling; the answer
// comes back the same way, down to the reason phrase, the chunks and the trailers. It changes only what belongs to one
// connection (the hop-by-hop lines, Host, the framing of a request's body, Expect), the headers named in an upstream's
// configuration, and x-epitome-* headers. While many requests are under way they carry a mark by which a loop is found.
//
// An answer that the upstream cut is never completed, a client that leaves ends its upstream call at once, and no
// request is sent twice unless nothing of it can have arrived. Every queue, buffer and wait has a limit. A panic fails
// one exchange, never the process.
package proxy

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/store"
	"epitome/tokenize"
	"epitome/window"
)

// Deps are what the proxy needs from the rest of the program. None may be nil.
type Deps struct {
	Record  func(*event.Exchange)     // gets each exchange as it ends, on that exchange's goroutine, to keep
	Log     *slog.Logger              // for failures outside of exchanges
	Windows *window.Windows           // learn from answers how much models hold
	Ratios  *tokenize.Ratios          // learn from answers how models count
	Keeps   func(context string) bool // whether there are context files of that name
	// Run returns what holds for the requests of an "epitome run". Its upstreams are in the settings from then on.
	Run func(id string) (Run, error)
	// Shape returns what to send in the place of a request, and records it. Observe returns the same, and records
	// nothing that is live.
	Shape, Observe func(rewrite.Input) rewrite.Output
	Places         *rewrite.Places // bound what is shaped at once
	// Scope names a scope by a keyed hash, so that a credential cannot be read from it.
	Scope func(kind, value string) string
}

// Pages serve everything under /-/, which epitome answers itself.
type Pages interface {
	http.Handler
	// KnowsHost reports whether a Host header names this epitome. A web page can rebind no name that it knows.
	KnowsHost(host string) bool
}

// Proxy serves client connections. Its methods may be called from any goroutine.
type Proxy struct {
	deps     Deps
	settings *atomic.Pointer[settings] // of the Upstreams
	rooms    *rooms                    // for the bodies under way
	server   *fasthttp.Server
	pages    Pages  // set by Serve
	loopback bool   // the listener can be reached from this machine only; set by Serve
	mark     string // of requests that went through here; nobody can guess it
	now      func() time.Time

	underWay atomic.Int64 // exchanges that have not ended, tunnels too, without those that epitome itself answers

	serving context.Context // ends when Shutdown begins
	stop    context.CancelFunc
	life    context.Context // of every exchange; Cut ends it
	end     context.CancelFunc
}

// New makes a proxy in front of the upstreams, with their settings.
func New(u *Upstreams, deps Deps) *Proxy {
	conf := u.settings.Load().conf
	p := &Proxy{
		deps:     deps,
		settings: &u.settings,
		rooms:    newRooms(int64(conf.MaxInFlight), int64(conf.MaxBody), conf.limits.room),
		mark:     rand.Text(),
		now:      time.Now,
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.serving, p.stop = context.WithCancel(p.life)
	p.server = &fasthttp.Server{
		Handler:            p.serve,
		ErrorHandler:       p.refuseUnread,
		Concurrency:        conf.MaxConnections + 1,
		ReadBufferSize:     maxHeader,
		ReadTimeout:        conf.limits.arrive,
		IdleTimeout:        keepAlive,
		StreamRequestBody:  true,
		MaxRequestBodySize: 1, // fasthttp reads no more of a body by itself, and receive reads the rest

		DisableHeaderNamesNormalizing: true,
		DisablePreParseMultipartForm:  true, // it would take multipart bodies apart
		ReduceMemoryUsage:             true, // no buffer for writing, as exchanges write themselves
		NoDefaultDate:                 true,
		Logger:                        log.New(io.Discard, "", 0), // its messages may quote credentials
	}
	return p
}

// Reload puts s in force for the exchanges that begin from now on. On an error the old settings stay.
func (p *Proxy) Reload(s Settings) error {
	next, err := newSettings(s)
	if err == nil {
		p.settings.Store(next)
	}
	return err
}

// Serve takes connections from ln until Shutdown; then it returns nil. It is called once.
func (p *Proxy) Serve(ln net.Listener, pages Pages) error {
	p.pages = pages
	at, ok := ln.Addr().(*net.TCPAddr)
	p.loopback = ok && at.IP.IsLoopback()
	if p.Stopping() { // Shutdown has not known of the listener
		return ln.Close()
	}
	conf := p.settings.Load().conf
	err := p.server.Serve(wire.Listen(ln, conf.MaxConnections, conf.limits.writeIdle, p.deps.Log))
	if p.Stopping() {
		return nil
	}
	return err
}

// Stopping reports whether Shutdown has begun.
func (p *Proxy) Stopping() bool { return p.serving.Err() != nil }

// Shutdown stops listening and ends requests under /-/ at once, gives exchanges that are under way the grace time to
// finish, and then cuts the rest.
func (p *Proxy) Shutdown() {
	p.stop()
	ctx, cancel := context.WithTimeout(context.Background(), p.settings.Load().conf.ShutdownGrace.D())
	defer cancel()
	_ = p.server.ShutdownWithContext(ctx) // returns when every connection has ended, or with ctx
	p.await(ctx)                          // tunnels are no longer the server's
	p.Cut()
	p.await(context.Background())
}

// Cut ends every exchange that is under way, and each one that still begins, as if its client had left, and its
// client's connection with it.
func (p *Proxy) Cut() {
	if n := p.InFlight(); n > 0 {
		p.deps.Log.Warn("cutting exchanges that have not finished", "count", n)
	}
	p.end()
}

// InFlight returns the number of exchanges under way, without requests for epitome's own pages.
func (p *Proxy) InFlight() int { return int(p.underWay.Load()) }

// await returns when no exchange is under way, or with ctx.
func (p *Proxy) await(ctx context.Context) {
	for p.InFlight() > 0 && ctx.Err() == nil {
		time.Sleep(2 * time.Millisecond)
	}
}

// Certificate is the table [tls] of config.toml: the files of the certificate by which clients trust epitome, or a part
// of Trust. The zero value has none: clients speak without TLS.
type Certificate struct {
	CertFile string `toml:"cert_file"`
	KeyFile  string `toml:"key_file"`
}

// IsSet reports whether clients are to speak TLS.
func (c Certificate) IsSet() bool { return c != Certificate{} }

// Check refuses files that Listen would refuse.
func (c Certificate) Check() error {
	if !c.IsSet() {
		return nil
	}
	_, err := c.load("tls.")
	return err
}

// load reads the files, which the configuration has in a table: its name ends with a dot.
func (c Certificate) load(table string) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("cannot load %scert_file and %[1]skey_file: %w; give PEM files that belong together", table, err)
	}
	return &pair, nil
}

// Listen has the connections of ln speak TLS; without a certificate it returns ln. The files are read with each
// handshake, so that a renewed certificate is in force at once; while they cannot be used, the old one stays.
func (c Certificate) Listen(ln net.Listener, log *slog.Logger) (net.Listener, error) {
	if !c.IsSet() {
		return ln, nil
	}
	first, err := c.load("tls.")
	if err != nil {
		return nil, err
	}
	var last atomic.Pointer[tls.Certificate]
	last.Store(first)
	tell := rate.Sometimes{Interval: time.Minute} // however many handshakes there are
	renew := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		renewed, err := c.load("tls.")
		if err != nil {
			tell.Do(func() {
				log.Error("cannot renew the certificate; the old one stays in force", "error", err.Error())
			})
			return last.Load(), nil
		}
		last.Store(renewed)
		return renewed, nil
	}
	return tls.NewListener(ln, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: renew,
	}), nil
}

// Trust is the table [upstreams.NAME.tls] of config.toml: how an https upstream is trusted.
type Trust struct {
	CAFile string `toml:"ca_file"`
	Certificate
}

// clientConfig reads the files of t, for the upstream at host.
func (t Trust) clientConfig(host string) (*tls.Config, error) {
	c := &tls.Config{
		ServerName: host, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(64),
	}
	var err error
	c.RootCAs, err = store.Authorities(t.CAFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read ca_file: %w", err)
	}
	if t.IsSet() {
		pair, err := t.load("")
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{*pair}
	}
	return c, nil
}
