package proxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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

// exchange is one request on its way, from serve to end. Only the goroutine that serves the client's connection uses
// it. The fields are grouped by the step that fills them; later steps read them.
type exchange struct {
	proxy *Proxy
	set   *settings // as they were when the exchange began
	ctx   *fasthttp.RequestCtx
	event *event.Exchange // each step adds to it; end has it recorded
	err   error           // of all steps: why the client got no answer, or not the whole one

	// By begin.
	client   *wire.Client
	life     context.Context // ends when the client has left, and with the proxy's life
	leave    func()          // ends life, and with it the upstream call
	stopCut  func() bool     // ends the watch for the end of the proxy's life
	own      bool            // epitome itself answers
	target   []byte          // path and query; from route on as the upstream gets them
	head     []byte          // the client's header lines; handle takes out its key for epitome
	isMarked bool            // the request is to carry the proxy's mark
	run      Run             // that the request is of
	headErr  error           // refuses a request of no known run, or mode
	unread   bool            // the body, or the rest of it, is still on the connection
	reply    wire.ClientSide // how an answer goes to the client; every step up to the answer may change it

	scope string // whose facts the request shares, once handle has found its client

	// By receive. The bodies last until dropBodies.
	room  room   // of body and plain
	body  []byte // as it came
	plain []byte // body without its content coding, once that was decoded

	// By route.
	upstream *upstream

	// By shape.
	dialect conversation.Dialect // of the conversation that the request holds; nil if it holds none to shape
	isCount bool                 // the request only asks for the size of the conversation
	shaped  rewrite.Output       // what is sent, if Changed; without its body from dropBodies on
	input   *rewrite.Input       // how it was shaped, without the body; nil if it was not, or is not to be shaped again

	// By forward.
	lacks     bool // the upstream has shown that it makes no compaction, for which the request asks
	isRefused bool // the answer refuses a conversation as too long, which nothing has helped

	// By relay, for fail.
	begun       bool // bytes of an answer have gone to the client
	endsByClose bool // the client takes the connection's end for the answer's
}

// serve handles one request. fasthttp calls it when the head has been read.
func (p *Proxy) serve(ctx *fasthttp.RequestCtx) {
	defer p.drop(ctx)
	x := p.begin(ctx)
	answer := x.handle
	if x.own {
		answer = x.serveOwn
	}
	x.err = x.try(answer)
	if !ctx.Hijacked() { // else the exchange ends where its tunnel does
		x.end()
	}
}

// drop is deferred by what fasthttp calls. A panic that no exchange has caught is logged, and ends this connection alone.
func (p *Proxy) drop(ctx *fasthttp.RequestCtx) {
	r := recover()
	if r == nil {
		return
	}
	p.logPanic("", r)
	client := ctx.Conn().(*wire.Client)
	client.Reset()
	client.Answered = true // fasthttp writes an answer to every request
}

func (p *Proxy) logPanic(id string, value any) {
	p.deps.Log.Error("panic in an exchange", "id", id, "panic", value, "stack", string(debug.Stack()))
}

// try runs a part of the exchange. A panic in it is logged, and fails this exchange alone.
func (x *exchange) try(part func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			x.proxy.logPanic(x.event.ID, r)
			err = &wire.Failure{Fault: event.Panic, Err: fmt.Errorf("panic: %v", r)}
		}
	}()
	return part()
}

// handle is the whole way of a request that goes upstream. Its error is a refusal that the client is sent, or a
// *wire.Failure, which says whose fault it is that the client gets no answer, or not all of it.
func (x *exchange) handle() error {
	client, head, err := x.set.find(x.head)
	if err != nil {
		return err
	}
	x.event.Client, x.head = client, head
	x.scope = x.proxy.scope(x.set, head, client)
	x.room.turn = cmp.Or(client, x.scope, hostOf(x.event.Remote))
	if err := x.checkHead(); err != nil {
		return err
	}
	if err := mayUse(client, "mode", x.event.Mode, x.set.conf.Clients[client].Modes); err != nil {
		return err
	}
	if err := x.receive(int64(x.set.conf.MaxBody)); err != nil {
		return err
	}
	x.client.Watch(x.leave)
	if err := x.route(); err != nil {
		return err
	}
	if err := mayUse(client, "upstream", x.upstream.name, x.set.conf.Clients[client].Upstreams); err != nil {
		return err
	}
	if err := x.shape(); err != nil {
		return err
	}
	answer, err := x.forward()
	if err == nil && answer == nil {
		return x.serveCompaction()
	}
	x.dropBodies() // an answer may stream for hours
	if err != nil {
		return err
	}
	return x.relay(answer)
}

// begin takes a request in. The settings that are in force now hold for all of it.
func (p *Proxy) begin(ctx *fasthttp.RequestCtx) *exchange {
	h := &ctx.Request.Header
	run, id, target, err := p.takeRun(h.RequestURI())
	path, _, _ := bytes.Cut(target, []byte("?"))
	set := p.settings.Load()
	x := &exchange{
		run: run, headErr: err,
		proxy: p, set: set, ctx: ctx, client: ctx.Conn().(*wire.Client), room: room{all: p.rooms},
		own: isOwn(h, path), target: target, head: h.RawHeaders(), unread: ctx.Request.IsBodyStream(),
	}
	x.event = &event.Exchange{
		ID: rand.Text()[:10], Start: time.Now(), Method: string(h.Method()), Path: string(path),
		Action: event.ActionNone, Run: event.Clip(id), TraceParent: event.Clip(string(wire.Find(x.head, "traceparent"))),
		Remote: set.remoteOf(ctx.RemoteAddr(), x.head),
	}
	x.reply.HTTP10 = !h.IsHTTP11()
	saysClose := h.ConnectionClose() || wire.HasToken(wire.Values(x.head, "connection"), "close")
	x.reply.Close = saysClose || p.Stopping()
	isVia := wire.Find(x.head, viaHeader) != nil
	if !x.own {
		x.event.Mode, err = set.mode(x.head, run)
		x.headErr = cmp.Or(x.headErr, err)
		if x.event.Mode != event.ModeOff {
			x.reply.Extra = []byte("x-epitome-action: " + event.ActionNone + "\r\n")
		}
	}
	// What end takes back comes last: a panic above leaves nothing behind.
	life, cancel := context.WithCancelCause(context.Background())
	x.life, x.leave = life, func() { cancel(wire.ErrGone) }
	x.stopCut = context.AfterFunc(p.life, func() {
		x.client.Cut()
		x.leave()
	})
	if !x.own {
		x.isMarked = p.underWay.Add(1) > unmarked || isVia
	}
	return x
}

const (
	viaHeader = "epitome-via" // has a mark for each epitome that a request went through
	unmarked  = 8             // exchanges under way up to which requests carry no mark, as a loop soon has more
)

// checkHead refuses requests that must not be forwarded, whatever their body.
func (x *exchange) checkHead() error {
	lineErr := wire.CheckLines(x.head)
	twoLengths := wire.Find(x.head, "transfer-encoding") != nil && wire.Find(x.head, "content-length") != nil
	if lineErr != nil || twoLengths {
		x.reply.Close = true // the next request may begin elsewhere
	}
	if !bytes.HasPrefix(x.target, []byte("/")) && string(x.target) != "*" {
		return refuse(405, "method_not_allowed",
			"epitome is not a forward proxy: set it as the base URL, not as HTTP_PROXY")
	}
	if twoLengths {
		return refuse(400, "bad_request",
			"the request states both Content-Length and Transfer-Encoding: send one of them")
	}
	if bytes.Contains(wire.Values(x.head, viaHeader), []byte(x.proxy.mark)) {
		return refuse(508, "loop", "this request came back to the epitome that sent it: "+
			"set the url of its upstream to that of the provider", noRetry)
	}
	if x.headErr != nil {
		return x.headErr
	}
	if lineErr != nil {
		return refuse(400, "bad_request", fmt.Sprintf("epitome cannot read the request: %v; check the client", lineErr))
	}
	return nil
}

// forward has the upstream answer, and returns the answer to pass on, or none where x.shaped.Carried takes its place.
func (x *exchange) forward() (*wire.Answer, error) {
	if x.shaped.Carried != nil {
		return nil, nil
	}
	answer, err := x.send()
	if err == nil {
		answer, err = x.replaceCompaction(answer) // as it is if the upstream makes it, or none was asked for
	}
	if err != nil || answer == nil {
		return nil, err
	}
	return x.rescue(answer) // as it is if it is no refusal as too long
}

// send sends the request as it is shaped now.
func (x *exchange) send() (*wire.Answer, error) {
	out := wire.Request{
		Method: x.ctx.Method(), Target: x.target, Lines: x.head, Body: x.body,
		Upgrade: isUpgrade(x.head), FirstByte: x.set.conf.FirstByteTimeout.D(), ReadIdle: x.set.conf.limits.readIdle,
	}
	if x.shaped.Changed {
		out.Body, out.Changed = x.shaped.Body, true
	}
	if x.isMarked {
		mark := viaHeader + ": " + x.proxy.mark + "\r\n"
		out.Lines = slices.Concat(bytes.TrimRight(x.head, "\r\n"), []byte("\r\n"+mark))
	}
	if !x.reply.HTTP10 {
		out.Interim = func(h *wire.Head) error { return x.write(h.AppendTo(nil, wire.ClientSide{})) }
	}
	return x.upstream.pool.Do(x.life, out)
}

// end is the one place where an exchange ends, however that happens: the client gets an answer if it has had none,
// memory is given back, and the event is recorded.
func (x *exchange) end() {
	err := x.try(x.finish)
	if err != nil {
		x.reply.Close = true
		x.client.Reset()
	}
	x.leave()
	x.stopCut()
	x.releaseConnection()
	if x.own { // no exchange of a client with a provider
		return
	}
	defer x.proxy.underWay.Add(-1)
	x.event.Duration = time.Since(x.event.Start)
	_ = x.try(func() error {
		x.proxy.deps.Record(x.event)
		return nil
	})
}

// finish gives back what the request has, and tells the client if it failed.
func (x *exchange) finish() error {
	x.client.Unwatch()
	x.dropBodies()
	if x.unread { // the next bytes on the connection are no request
		x.reply.Close, x.client.Lingers = true, true
	}
	if x.err != nil {
		x.fail()
	}
	return nil
}

// dropBodies frees the request's body, in each form, and its room.
func (x *exchange) dropBodies() {
	x.body, x.plain = nil, nil
	x.shaped = rewrite.Output{Report: x.shaped.Report}
	x.room.release()
}

// fail tells the client, as far as it can still be told.
func (x *exchange) fail() {
	if x.proxy.life.Err() != nil {
		x.err = &wire.Failure{Fault: event.Stopped,
			Err: errors.New("epitome stopped, and the exchange took longer than shutdown_grace")}
	}
	x.event.Fault, x.event.Err = event.Refused, x.err.Error()
	if failure, ok := errors.AsType[*wire.Failure](x.err); ok {
		x.event.Fault = failure.Fault
	}
	isGone := slices.Contains([]event.Fault{event.ClientGone, event.ClientSlow, event.Stopped}, x.event.Fault)
	if !isGone && !x.begun {
		r := refusalOf(x.err)
		x.reply.Close = x.reply.Close || x.event.Fault == event.Panic || x.proxy.Stopping()
		x.reply.Extra = append([]byte(r.lines), x.reply.Extra...)
		_ = x.answer(r.status, "application/json", r.body()) // the client cannot be told otherwise
		return
	}
	x.reply.Close = true
	if x.endsByClose || !isGone && !errors.Is(x.err, wire.ErrTruncated) { // the end must not pass for the answer's
		x.client.Reset()
	}
}

// releaseConnection hands the connection back to fasthttp, which writes an empty answer that the connection drops: ours
// has been written already. The empty body stream makes it exactly one write. After a tunnel fasthttp writes nothing.
func (x *exchange) releaseConnection() {
	x.client.Answered = true
	x.ctx.Response.ImmediateHeaderFlush = true
	x.ctx.SetBodyStream(http.NoBody, 0)
	if x.reply.Close {
		x.ctx.SetConnectionClose()
	}
}
