// Package proxy is one exchange on the wire: receive, shape, forward, relay, record.
//
// It promises to be transparent. A request, unless its conversation is rewritten, goes upstream with the method, raw
// target and body bytes it came with, and with every end-to-end header line in its place and spelling; the answer
// comes back the same way, down to the reason phrase, the chunks and the trailers. What it changes is only what
// belongs to one connection (the hop-by-hop lines, Host, the framing of a request's body, Expect), the headers named
// in an upstream's configuration, x-epitome-* request headers, which are taken off, and x-epitome-* response headers,
// which are added unless the mode is off.
//
// It promises not to lie: an answer that the upstream cut is never completed, a client that leaves ends its
// upstream call at once, and no request is sent twice unless nothing of it can have arrived. It promises to be
// bounded: every queue, buffer and wait has a limit in Config. A panic fails one exchange, never the process.
//
// It also asks upstreams on epitome's own behalf (Ask, Look), over the same connections and within the same limits. It
// assumes HTTP/1.1 on both sides (HTTP/1.0 clients are served); whether a connection speaks TLS is its listener's.
package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/summarize/prose"
	"epitome/window"
)

// Settings are what a reload may change, but for the numbers that Config marks as fixed at start.
type Settings struct {
	Config
	Mode        string
	Scope       string // who may share facts: auto, credential, shared or header:NAME
	Upstream    string // name of the default one
	Upstreams   map[string]UpstreamConfig
	Clients     map[string]ClientConfig // whose keys are asked for; none: nobody's are
	Routes      []RouteRule
	Limits      ladder.Limits // which a request's own headers may override
	SummaryMode prose.Mode    // likewise
	Contexts    []string      // names of files that all conversations are given

	limits *limits // nil for defaultLimits
}

// Plugs are what the proxy needs from the rest of the program. None may be nil, but for Watch.
type Plugs struct {
	Own      http.Handler                          // serves everything under /-/
	Record   func(event.Exchange)                  // gets each exchange as it ends, on that exchange's goroutine
	Log      *slog.Logger                          // for what is not the story of one exchange
	Dialects []Dialect                             // whose conversations are shaped; the first that serves a path
	Shaper   Shaper                                // puts a conversation into the form it is sent in, and records that
	Shadow   Shaper                                // says what Shaper would do, and records nothing that is live
	Watch    func(*rewrite.Input, *rewrite.Report) // sees what Shaper was asked, and what it told
	Lessons  Lessons                               // learn what answers tell of windows
	Ratios   Ratios                                // learn what answers tell of vocabularies
	Traces   bool                                  // events have the ids of the client's span
	Keeps    func(context string) bool             // whether files for conversations are or were kept under that name
	// Scope names a scope by a keyed hash, so that a credential cannot be read from it.
	Scope func(kind, value string) string
}

// Shaper says what to send in a request's place. As a function it would copy both, on a stack that streams keep.
type Shaper interface {
	Shape(rewrite.Input) rewrite.Output
}

// Lessons take what answers tell of how much models hold. Their methods may be called from any goroutine.
type Lessons interface {
	// LearnRefusal learns from a refusal. ok says that it is news.
	LearnRefusal(upstream, model string, v window.Refusal, s window.Sent) (tokens int, ok bool)
	// LearnAnswer learns from an answer, by our count of its request and by the provider's, which may be 0; it returns a
	// window that this shows to be too small; 0 is none.
	LearnAnswer(upstream, model string, counted, used int) (refuted int)
}

// Proxy serves client connections. Its methods may be called from any goroutine.
type Proxy struct {
	plugs     Plugs
	settings  atomic.Pointer[settings]
	traffic   *traffic
	usage     *clientUsage
	admission *room // by addresses, which are fixed while a request is being served
	server    *fasthttp.Server
	born      time.Time
	count     atomic.Uint64
	loopback  bool         // the listener can be reached from this machine only; set by Serve
	decoding  decodePlaces // of the bodies that are being decoded
	turns     *turns       // of large requests to be shaped
	loops     *loopGuard
	limits    *limits
	strangers sync.Map // headers of requests with a body and without a known key, until dropBody
}

// settings are the configuration and the upstreams made from it. They do not change once made.
type settings struct {
	conf    Settings
	table   *table
	clients *clientBook
}

// Check says why New or Reload would refuse s, as a *unit.KeyError.
func Check(s Settings) error {
	if _, err := newTable(routesOf(s), nil); err != nil {
		return err
	}
	return CheckClients(s.Clients)
}

// New makes a proxy from s.
func New(s Settings, plugs Plugs) (*Proxy, error) {
	p := &Proxy{plugs: plugs, traffic: newTraffic(), usage: newClientUsage(), born: time.Now(), loops: newLoopGuard(), turns: newTurns(),
		decoding: make(decodePlaces, mostDecodes), limits: cmp.Or(s.limits, &defaultLimits)}
	if err := p.Reload(s); err != nil {
		return nil, err
	}
	p.admission = newRoom(int64(s.MaxInFlight))
	p.server = &fasthttp.Server{
		Handler:            p.serve,
		HeaderReceived:     p.headReceived,
		ErrorHandler:       p.refuseUnread,
		Concurrency:        s.MaxConnections + 1,
		ReadBufferSize:     maxHeader,
		ReadTimeout:        p.limits.header,
		IdleTimeout:        p.limits.keepAlive,
		MaxRequestBodySize: int(s.MaxBody),

		DisableHeaderNamesNormalizing: true,
		DisablePreParseMultipartForm:  true, // it would take multipart bodies apart
		ReduceMemoryUsage:             true, // no buffer for a connection that streams, a small one for an idle one
		NoDefaultServerHeader:         true,
		NoDefaultContentType:          true,
		NoDefaultDate:                 true,
		SecureErrorLogMessage:         true,
		Logger:                        silent{},
	}
	return p, nil
}

// listen lets max_connections in at once, and gives each its times.
func (p *Proxy) listen(ln net.Listener) *wire.Listener {
	full := busy("epitome has as many connections as max_connections allows: try again, or raise it")
	return &wire.Listener{
		Listener: ln, Most: int64(p.settings.Load().conf.MaxConnections), Full: full.AppendTo(nil, wire.ClientSide{Close: true}, false),
		Stopping: p.traffic.stopping.Load,
		TurnedAway: func() {
			p.record(event.Exchange{
				ID: p.nextID(), Start: time.Now(), Mode: p.settings.Load().conf.Mode, Action: event.ActionNone,
				Status: http.StatusServiceUnavailable, Fault: event.Refused,
				Err: "there are as many connections as max_connections allows",
			})
		},
		WriteIdle: p.limits.writeIdle,
		Pace: func(bytes int) time.Duration {
			return p.limits.header + time.Duration(bytes)*time.Second/minBodyRate
		},
	}
}

// silent keeps fasthttp from logging: its messages may quote a request's headers, and with them credentials.
type silent struct{}

func (silent) Printf(string, ...any) {}

// Reload puts s in force for the exchanges that begin from now on. On an error the old settings stay.
func (p *Proxy) Reload(s Settings) error {
	old := p.settings.Load()
	var before *table
	if old != nil {
		before = old.table
	}
	t, err := newTable(routesOf(s), before)
	if err != nil {
		return err
	}
	book, err := newClientBook(s.Clients, p.usage)
	if err != nil {
		return err
	}
	p.settings.Store(&settings{conf: s, table: t, clients: book})
	if before != nil {
		before.Retire(t)
	}
	return nil
}

// Serve takes connections from ln until Shutdown; then it returns nil.
func (p *Proxy) Serve(ln net.Listener) error {
	at, ok := ln.Addr().(*net.TCPAddr)
	p.loopback = ok && at.IP.IsLoopback()
	err := p.server.Serve(p.listen(ln))
	if p.traffic.stopping.Load() {
		return nil
	}
	return err
}

// Stopping reports whether Shutdown has begun.
func (p *Proxy) Stopping() bool { return p.traffic.stopping.Load() }

// Shutdown stops listening at once, gives exchanges that are under way the grace time to finish, and then cuts all
// that is left.
func (p *Proxy) Shutdown() {
	p.traffic.stop()
	ctx, cancel := context.WithTimeout(context.Background(), p.settings.Load().conf.ShutdownGrace.D())
	defer cancel()
	_ = p.server.ShutdownWithContext(ctx) // returns when every connection has ended, or with ctx
	p.traffic.await(ctx)                  // tunnels are no longer the server's
	p.Cut()
	p.traffic.await(context.Background())
	p.settings.Load().table.Retire(nil)
}

// Cut ends every exchange that is under way, and each one that still begins, as if its client had left, and its
// client's connection with it; and whatever is asked on epitome's own behalf.
func (p *Proxy) Cut() {
	if n := p.traffic.cut(); n > 0 {
		p.plugs.Log.Warn("cutting exchanges that have not finished", "count", n)
	}
}

// InFlight is the number of exchanges under way; requests for epitome's own pages are none.
func (p *Proxy) InFlight() int { return p.traffic.count() }

func (p *Proxy) nextID() string { return idOf(p.born, p.count.Add(1)) }

// serve is where fasthttp hands over a request that has been read whole.
func (p *Proxy) serve(ctx *fasthttp.RequestCtx) {
	defer p.survive(ctx)
	if x := p.begin(ctx); x.delivery.own {
		x.answerOwn()
	} else {
		x.forward()
	}
}

// survive is the last net: a panic that an exchange's own end could not take costs its connection, not the process.
func (p *Proxy) survive(ctx *fasthttp.RequestCtx) {
	if r := recover(); r != nil {
		p.plugs.Log.Error("panic at the end of an exchange", "panic", r, "stack", string(debug.Stack()))
		ctx.SetConnectionClose()
	}
}

// ownPath is where epitome's own pages lie; everything else is forwarded.
const ownPath = "/-/"

const (
	tooSmall     = 1       // a body limit in bytes that makes fasthttp refuse a request before it reads its body
	strangerBody = 4 << 10 // bytes of a body under ownPath without a known key: a login needs fewer
)

// headReceived decides, before a body is read, whether there is room for it and how long it may take.
func (p *Proxy) headReceived(h *fasthttp.RequestHeader) (conf fasthttp.RequestConfig) {
	defer func() {
		if r := recover(); r != nil { // nothing above would take it
			p.plugs.Log.Error("panic at the head of a request", "panic", r, "stack", string(debug.Stack()))
			conf.MaxRequestBodySize = tooSmall
		}
	}()
	s := p.settings.Load()
	p.admission.Leave(h) // a request whose body never arrived whole leaves nothing behind
	if s.clients != nil {
		p.strangers.Delete(h)
	}
	if wire.EqualFold(wire.Find(h.RawHeaders(), "expect"), "100-continue") {
		h.Set("Expect", "100-continue") // the only spelling fasthttp knows
	}
	size := int64(h.ContentLength())
	conf.MaxRequestBodySize = int(s.conf.MaxBody)
	if size == 0 || size < wire.ChunkedLength {
		return conf
	}
	path, _, _ := bytes.Cut(wire.OriginForm(h.RequestURI()), []byte("?"))
	p.admission.Remember(h, string(h.Method()), string(path))
	whose, known := s.clients.Whose(h.RawHeaders())
	if !known {
		p.strangers.Store(h, true) // until dropBody
		conf.MaxRequestBodySize = tooSmall
		if bytes.HasPrefix(path, []byte(ownPath)) {
			conf.MaxRequestBodySize = min(strangerBody, int(s.conf.MaxBody))
		}
	}
	if size == wire.ChunkedLength {
		size = int64(conf.MaxRequestBodySize)
	}
	if size > int64(conf.MaxRequestBodySize) || conf.MaxRequestBodySize == tooSmall {
		return conf
	}
	if h.ContentLength() > 0 {
		mode, _ := s.mode(h.RawHeaders())
		size = roomFor(p.plugs.Dialects, h, mode, size)
	}
	if !s.clients.HasOthers() {
		whose = "" // there is nobody to leave room to
	}
	if !p.admission.Enter(h, whose, size, p.limits.room) {
		conf.MaxRequestBodySize = tooSmall
	}
	return conf
}

// refuseUnread answers a request that could not be read.
func (p *Proxy) refuseUnread(ctx *fasthttp.RequestCtx, err error) {
	c := clientOf(ctx)
	defer p.survive(ctx)
	if !c.IsArriving() { // opened ahead of need and never used: there is nothing to answer
		c.SkipNextWrite()
		return
	}
	c.LingerOnClose()
	x := p.begin(ctx)
	x.event.Method, x.event.Path = p.admission.NameOf(&ctx.Request.Header) // fasthttp has let go of what it had read
	x.delivery.to.Close = true
	_, stranger := p.strangers.LoadAndDelete(&ctx.Request.Header)
	switch {
	case c.HasLeft():
		x.err = &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
	case p.admission.IsRefused(&ctx.Request.Header):
		x.err = busy(noRoomLeft)
	case stranger && x.set.clients != nil:
		x.err = unknownKey()
	default:
		x.err = x.set.whyUnread(err)
	}
	x.end()
}

// whyUnread is what the client is told of a request that could not be read for err.
func (s *settings) whyUnread(err error) error {
	var small *fasthttp.ErrSmallBuffer
	var late net.Error
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		return refusalWith(413, "request_too_large", fmt.Sprintf("the request's body is larger than max_body (%s): shorten it, or raise max_body", s.conf.MaxBody))
	case errors.As(err, &small):
		return refusalWith(431, "header_too_large", "the request's headers are larger than 32 KB: shorten them")
	case errors.As(err, &late) && late.Timeout(), errors.Is(err, fasthttp.ErrTimeout):
		return refusalWith(408, "request_timeout", "the request did not arrive in time: send it faster")
	}
	return refusalWith(400, "bad_request", "epitome cannot read the request as HTTP/1.1: check the client and what lies between")
}

// mode is the mode of one request: its own header before the configured one. ok says that the header is a mode.
func (s *settings) mode(block []byte) (mode string, ok bool) {
	switch m := string(bytes.ToLower(wire.Find(block, "x-epitome-mode"))); m {
	case event.ModeOn, event.ModeObserve, event.ModeOff:
		return m, true
	default:
		return s.conf.Mode, m == ""
	}
}
