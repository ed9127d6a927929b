package proxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
)

// exchange is one request on its way. Only the goroutine that serves the client's connection uses it.
type exchange struct {
	proxy *Proxy
	set   *settings // as they were when the exchange began
	ctx   *fasthttp.RequestCtx
	event *event.Exchange
	err   error // why the client got no answer, or not the whole one

	client      *wire.Client
	reply       wire.ClientSide // how an answer goes to the client
	own         bool            // epitome itself answers
	begun       bool            // bytes of an answer have gone to the client
	endsByClose bool            // the client takes the connection's end for the answer's

	life  context.Context // ends when the client has left, and with the proxy's life
	leave func()          // ends life, and with it the upstream call
	uncut func() bool     // ends the watch for the end of the proxy's life
	marks bool            // the request is to carry the proxy's mark

	head     []byte // the client's header lines, without its key for epitome
	badMode  error  // refuses a mode that is none; nil if it is one
	via      []byte // the marks of each epitome that the request went through
	run      string // names the "epitome run" that started the agent; empty for none
	upgrades bool   // the request asks to switch protocols
	body     []byte // as it came, until dropBodies
	unread   bool   // the body, or the rest of it, is still on the connection
	room     room   // of body and plain
	plain    []byte // body without its content coding, once it was decoded

	dialect conversation.Dialect // of the conversation that the request holds; nil if it holds none to shape
	counts  bool                 // the request only asks for the size of the conversation
	input   *rewrite.Input       // how it was shaped, without the body; nil if it was not, or is not to be shaped again
	report  rewrite.Report       // on how it was shaped
	sent    []byte               // body in place of the client's, until dropBodies; nil if the client's is sent
	scope   string               // who may share facts with the request
	lacks   bool                 // the upstream has shown that it makes no compaction, for which the request asks
	asks    bool                 // the request asks the provider for a compaction, now or from a size on
	asksNow bool                 // likewise, but now
	atPath  bool                 // likewise, by its path
	carried *rewrite.Compacted   // answers the request in the upstream's place; nil if the upstream does
	held    []byte               // of the answer, without framing: what was read before it is passed on
	made    []byte               // the answer to a request for a compaction, or its beginning
	foreign []string             // compactions of providers in the request
	answer  *answerText          // the beginning and end of the answer to a conversation
}

// serve handles one request. fasthttp calls it when the head has been read.
func (p *Proxy) serve(ctx *fasthttp.RequestCtx) {
	x := p.begin(ctx)
	if x.own {
		x.err = x.try(x.serveOwn)
	} else {
		x.err = x.try(x.forward)
	}
	if !ctx.Hijacked() { // else the exchange ends where its tunnel does
		x.end()
	}
}

// try runs a part of the exchange. A panic in it is logged, and fails this exchange alone.
func (x *exchange) try(part func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			x.proxy.deps.Log.Error("panic in an exchange", "id", x.event.ID, "panic", r, "stack", string(debug.Stack()))
			err = &wire.Failure{Fault: event.Panic, Err: fmt.Errorf("panic: %v", r)}
		}
	}()
	return part()
}

// forward is the whole way of a request that goes upstream. Its error is a refusal that the client is sent, or a
// *wire.Failure, which says whose fault it is that the client gets no answer, or not all of it.
func (x *exchange) forward() error {
	owner, head, err := x.set.clients.find(x.head)
	if err != nil {
		return err
	}
	x.event.Client, x.head = owner.name, head
	if err := x.checkHead(); err != nil {
		return err
	}
	if err := x.receive(int64(x.set.conf.MaxBody)); err != nil {
		return err
	}
	x.client.Watch(x.leave)
	up, target, err := x.route()
	if err == nil {
		x.event.Upstream, err = up.name, owner.mayUse(up.name)
	}
	if err == nil {
		err = x.shape(up, target)
	}
	if err != nil {
		return err
	}
	if x.carried != nil {
		return x.serveCompaction()
	}
	a, err := up.pool.Do(x.life, x.outgoing(up, target))
	if err == nil {
		a, err = x.replaceCompaction(up, target, a) // a itself if the upstream makes it, or none was asked for
	}
	if err == nil && x.carried != nil {
		return x.serveCompaction()
	}
	if err == nil {
		a, err = x.rescue(up, target, a) // a itself if it is no refusal as too long
	}
	x.dropBodies() // an answer may stream for hours
	if err != nil {
		return err
	}
	x.event.FirstByte = time.Since(x.event.Start)
	x.begun = true // from here on no other answer can be sent
	if a.Code == 101 {
		return x.tunnel(a)
	}
	if a.Code == 404 {
		x.event.Err = whyNotFound(target)
	}
	err = x.relay(a)
	x.noteMaker(up, a)
	return err
}

// begin takes a request in. The settings that are in force now hold for all of it.
func (p *Proxy) begin(ctx *fasthttp.RequestCtx) *exchange {
	h := &ctx.Request.Header
	path, _, _ := bytes.Cut(wire.OriginForm(h.RequestURI()), []byte("?"))
	x := &exchange{
		proxy: p, set: p.settings.Load(), ctx: ctx, client: ctx.Conn().(*wire.Client), room: room{all: p.rooms},
		own: isOwn(h, path), head: h.RawHeaders(), unread: ctx.Request.IsBodyStream(),
	}
	x.event = &event.Exchange{
		ID: rand.Text()[:10], Start: time.Now(), Method: string(h.Method()), Path: string(path),
		Action: event.ActionNone, TraceParent: event.Clip(string(wire.Find(x.head, "traceparent"))),
		Remote: ctx.RemoteAddr().String(),
	}
	x.event.Mode, x.badMode = x.set.mode(wire.Find(x.head, wire.OwnPrefix+"mode"))
	connection := wire.Values(x.head, "connection")
	x.upgrades = wire.HasToken(connection, "upgrade") && wire.Find(x.head, "upgrade") != nil
	x.via = wire.Values(x.head, viaHeader)
	life, cancel := context.WithCancelCause(context.Background())
	x.life, x.leave = life, func() { cancel(wire.ErrGone) }
	x.uncut = context.AfterFunc(p.life, func() { x.client.Cut(); x.leave() })
	x.reply.HTTP10 = !h.IsHTTP11()
	x.reply.Close = h.ConnectionClose() || wire.HasToken(connection, "close") || p.Stopping()
	if x.event.Mode != event.ModeOff && !x.own {
		x.reply.Extra = []byte("x-epitome-action: " + event.ActionNone + "\r\n")
	}
	if !x.own {
		x.marks = p.underWay.Add(1) > unmarked || x.via != nil
	}
	return x
}

// checkHead refuses requests that must not be forwarded, whatever their body.
func (x *exchange) checkHead() error {
	badLine := wire.CheckLines(x.head)
	twoLengths := wire.Find(x.head, "transfer-encoding") != nil && wire.Find(x.head, "content-length") != nil
	x.reply.Close = x.reply.Close || twoLengths || badLine != nil // the next request may begin elsewhere
	switch {
	case x.ctx.IsConnect():
		return refuse(405, "method_not_allowed",
			"epitome is not a forward proxy: set it as the base URL, not as HTTP_PROXY")
	case twoLengths:
		return refuse(400, "bad_request",
			"the request states both Content-Length and Transfer-Encoding: send one of them")
	case bytes.Contains(x.via, []byte(x.proxy.mark)): // it was sent from here
		return refuse(508, "loop", "this request came back to the epitome that sent it: "+
			"set the url of its upstream to that of the provider", noRetry)
	case x.badMode != nil:
		return x.badMode
	case badLine != nil:
		return refuse(400, "bad_request", fmt.Sprintf("epitome cannot read the request: %v; check the client", badLine))
	}
	return nil
}

// receive reads the request's body, at most the given number of bytes.
func (x *exchange) receive(most int64) (err error) {
	if x.unread {
		x.client.BeginBody(x.set.conf.limits.arrive)
		x.room.watch = func() (end func()) { return x.client.WatchUnread(x.leave) }
		length := max(int64(x.ctx.Request.Header.ContentLength()), -1)
		x.body, err = x.room.readAll(x.life, x.ctx.RequestBodyStream(), length, most)
		x.room.watch = nil
		x.client.BeginBody(0)
		if err != nil {
			return x.whyUnread(err)
		}
		x.unread, x.event.RequestBytes = false, int64(len(x.body))
	}
	x.event.Start = time.Now() // begin has set it for requests that are refused before they have come whole
	return nil
}

// whyUnread returns the answer to a request that could not be read because of err.
func (x *exchange) whyUnread(err error) error {
	var small *fasthttp.ErrSmallBuffer
	var late net.Error
	switch {
	case errors.Is(err, errTooLarge):
		return refuse(413, "request_too_large", fmt.Sprintf(
			"the request's body is larger than max_body (%s): shorten it, or raise max_body", x.set.conf.MaxBody))
	case x.life.Err() != nil, x.client.HasLeft():
		return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
	case errors.Is(err, errNoRoom):
		return refuse(503, "busy", "the requests under way fill max_in_flight: try again, or raise it",
			"Retry-After: 1\r\n")
	case errors.As(err, &small):
		return refuse(431, "header_too_large", "the request's headers are larger than 16 KB: shorten them")
	case errors.As(err, &late) && late.Timeout(), errors.Is(err, fasthttp.ErrTimeout):
		return refuse(408, "request_timeout", "the request did not arrive in time: send it faster")
	}
	return refuse(400, "bad_request",
		"epitome cannot read the request as HTTP/1.1: check the client, and any proxy before epitome")
}

// refuseUnread answers a request whose head could not be read.
func (p *Proxy) refuseUnread(ctx *fasthttp.RequestCtx, err error) {
	x := p.begin(ctx)
	x.event.Method, x.event.Path, x.unread = "", "", true
	x.err = x.whyUnread(err)
	x.end()
}

// outgoing makes the request ready. Its body is valid until dropBodies.
func (x *exchange) outgoing(up *upstream, target []byte) wire.Request {
	h, body := &x.ctx.Request.Header, x.body
	if x.sent != nil {
		body = x.sent
	}
	head := wire.RequestHead{
		Method: h.Method(), Target: target, Block: x.head, Length: len(body),
		Upgrade: x.upgrades, Changed: x.sent != nil,
	}
	if x.marks {
		head.Block = slices.Concat(bytes.TrimRight(x.head, "\r\n"), []byte("\r\n"+viaHeader+": "+x.proxy.mark+"\r\n"))
	}
	return wire.Request{
		Head: head.AppendTo(make([]byte, 0, len(head.Block)+len(target)+512), &up.peer),
		Body: body, ToHead: h.IsHead(), Upgrade: head.Upgrade, Dechunk: x.reply.HTTP10,
		FirstByte: x.set.conf.FirstByteTimeout.D(), ReadIdle: x.set.conf.ReadIdle.D(),
		Interim: func(h *wire.Head) error {
			if x.reply.HTTP10 {
				return nil
			}
			return x.write(h.AppendTo(nil, wire.ClientSide{}))
		},
	}
}

const (
	viaHeader = "epitome-via" // has a mark for each epitome that a request went through
	unmarked  = 8             // exchanges under way up to which requests carry no mark, as a loop soon has more
)

// end is the one place where an exchange ends, however that happens: the client gets an answer if it has had none,
// memory is given back, and the event is recorded.
func (x *exchange) end() {
	x.client.Unwatch()
	x.dropBodies()
	if x.unread { // the next bytes on the connection are no request
		x.reply.Close, x.client.Lingers = true, true
	}
	if x.err != nil {
		x.fail()
	}
	x.leave()
	x.uncut()
	x.letGo()
	if x.own { // no exchange of a client with a provider
		return
	}
	x.proxy.underWay.Add(-1)
	x.event.Duration = time.Since(x.event.Start)
	_ = x.try(func() error { x.proxy.deps.Record(x.event); return nil })
}

// fail tells the client, as far as it can still be told.
func (x *exchange) fail() {
	if x.proxy.life.Err() != nil {
		x.err = &wire.Failure{Fault: event.Stopped,
			Err: errors.New("epitome stopped, and the exchange took longer than shutdown_grace")}
	}
	x.event.Fault, x.event.Err = event.Refused, x.err.Error()
	if f := (*wire.Failure)(nil); errors.As(x.err, &f) {
		x.event.Fault = f.Fault
	}
	isGone := slices.Contains([]event.Fault{event.ClientGone, event.ClientSlow, event.Stopped}, x.event.Fault)
	if !isGone && !x.begun {
		r := refusalOf(x.err)
		x.reply.Close = x.reply.Close || x.event.Fault == event.Panic || x.proxy.Stopping()
		x.reply.Extra = append([]byte(r.lines), x.reply.Extra...)
		w := response{exchange: x, header: make(http.Header), status: r.status, body: r.body()}
		w.header.Set("Content-Type", "application/json")
		w.send(true)
		x.event.Status = r.status
		return
	}
	x.reply.Close = true
	if x.endsByClose || !isGone && !errors.Is(x.err, wire.ErrTruncated) { // the end must not pass for the answer's
		x.client.Reset()
	}
}

// dropBodies frees the request's body, in each form, and its room, and what was held of the answer.
func (x *exchange) dropBodies() {
	x.body, x.plain, x.sent, x.held = nil, nil, nil, nil
	x.room.release()
}
