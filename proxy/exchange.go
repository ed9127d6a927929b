package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
	"github.com/valyala/fasthttp"

	"epitome/event"
	"epitome/proxy/wire"
)

// exchange is one request on its way. It lives on the goroutine that serves the client's connection and is used
// by no other, but for its call.
type exchange struct {
	proxy    *Proxy
	set      *settings // as they were when the exchange began
	ctx      *fasthttp.RequestCtx
	delivery delivery
	call     wire.Call
	pass     loopPass
	event    event.Exchange
	err      error // why the client got no answer, or not the whole one

	dialect   Dialect // of the conversation that it holds; nil if it holds none to shape
	ear       ear     // hears the answer, if the request holds a conversation
	opened    *opened // the body as routing has decoded it, until it is shaped; nil if there is none
	shaped    *shaped // the conversation as it was shaped, if that may be done again
	rewritten []byte  // what is sent in place of the client's body, until dropBody; nil if nothing is
}

// forward is the way of a request: choose the upstream, shape, send, pass the answer on. Its end is in end, always.
func (x *exchange) forward() {
	defer x.end()
	x.delivery.client.Watch(x.call.Cut)
	if x.err = identify(x); x.err != nil {
		return
	}
	up, target, err := x.route()
	if x.err = err; err != nil {
		return
	}
	x.pass = x.proxy.loops.Enter(x.ctx.Request.Header.RawHeaders(), target, x.ctx.Request.Body())
	x.event.Upstream = up.Name
	if x.err = x.set.clients.Lookup(x.event.Client).Admit(up.Name, time.Now()); x.err != nil {
		return
	}
	if x.err = x.shape(up, target); x.err != nil {
		return
	}
	a, err := x.call.Do(up.Pool, x.outgoing(up, target))
	if err == nil {
		a, err = x.rescue(up, target, a)
	}
	x.dropBody()
	if x.err = err; err != nil {
		return
	}
	x.event.FirstByte = time.Since(x.event.Start)
	x.delivery.begun = true
	if a.Code == 101 {
		x.err = x.tunnel(a)
		return
	}
	x.err = x.relay(a)
}

// begin takes a request in: from here on the settings in force now hold for it.
func (p *Proxy) begin(ctx *fasthttp.RequestCtx) *exchange {
	h := &ctx.Request.Header
	clientOf(ctx).EndRequest()
	x := &exchange{proxy: p, set: p.settings.Load(), ctx: ctx, delivery: delivery{client: clientOf(ctx)}}
	x.delivery.to.HTTP10 = !h.IsHTTP11()
	x.delivery.to.Close = h.ConnectionClose() || wire.ConnectionHas(h.RawHeaders(), "close")
	closeIfStopping(x)
	target := wire.OriginForm(h.RequestURI())
	path, _, _ := bytes.Cut(target, []byte("?"))
	x.event = event.Exchange{
		ID: p.nextID(), Start: time.Now(), Method: string(h.Method()), Path: string(path),
		Action: event.ActionNone, RequestBytes: int64(len(ctx.Request.Body())),
	}
	mode, known := x.set.mode(h.RawHeaders())
	x.event.Mode, x.delivery.modeless = mode, !known
	if x.event.Mode != event.ModeOff {
		x.delivery.to.Extra = []byte("x-epitome-action: " + event.ActionNone + "\r\n")
	}
	if p.plugs.Traces {
		x.event.TraceParent = event.Clip(string(wire.Find(h.RawHeaders(), "traceparent")))
	}
	x.delivery.own = bytes.HasPrefix(target, []byte(ownPath))
	p.admission.ShrinkTo(h, roomFor(p.plugs.Dialects, h, x.event.Mode, x.event.RequestBytes))
	p.traffic.enter(x)
	return x
}

// end is the one place where an exchange ends, whatever happened to it: the client gets an answer if it has had
// none, what was taken is given back, and the event is made.
func (x *exchange) end() {
	if x.delivery.parted {
		x.delivery.parted = false
		return
	}
	if r := recover(); r != nil {
		x.err = &wire.Failure{Fault: event.Panic, Err: fmt.Errorf("panic: %v", r)}
		x.proxy.plugs.Log.Error("panic in an exchange", "id", x.event.ID, "panic", r, "stack", string(debug.Stack()))
		x.call.Cut()
	}
	x.delivery.client.Unwatch()
	x.dropBody()
	if x.err != nil {
		x.fail()
	}
	x.proxy.loops.Leave(&x.pass)
	x.proxy.traffic.leave(x)
	x.delivery.letGo(x.ctx)
	spend(x)
	x.event.Duration = time.Since(x.event.Start)
	x.proxy.record(x.event)
}

// record makes the event known; what goes wrong there must not take the process with it.
func (p *Proxy) record(e event.Exchange) {
	defer func() {
		if r := recover(); r != nil {
			p.plugs.Log.Error("panic while recording an exchange", "id", e.ID, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	p.plugs.Record(e)
}

// fail tells the client, as far as it can still be told.
func (x *exchange) fail() {
	if x.delivery.client.IsCut() {
		x.err = &wire.Failure{Fault: event.Stopped, Err: errors.New("epitome stopped, and this outlasted shutdown_grace")}
	}
	x.event.Fault, x.event.Err = faultOf(x.err), x.err.Error()
	switch {
	case x.event.Fault == event.ClientGone || x.event.Fault == event.ClientSlow || x.event.Fault == event.Stopped:
		x.delivery.to.Close = true
		if x.delivery.endsByClose {
			x.delivery.client.Reset()
		}
	case !x.delivery.begun:
		closeIfStopping(x)
		r := refusalOf(x.err)
		x.delivery.to.Close = x.delivery.to.Close || x.event.Fault == event.Panic
		_ = x.delivery.write(r.AppendTo(nil, x.delivery.to, x.ctx.IsHead()))
		x.event.Status = r.Status
	default: // the connection ends without the end of the answer
		x.delivery.to.Close = true
		if x.delivery.endsByClose || !errors.Is(x.err, wire.ErrTruncated) {
			x.delivery.client.Reset()
		}
	}
}

// closeIfStopping has the answer say that no request may follow, whenever its own came: a request that meets a
// connection just as it is closed is lost.
func closeIfStopping(x *exchange) {
	x.delivery.to.Close = x.delivery.to.Close || x.proxy.traffic.stopping.Load()
}

// faultOf is whose fault an error is. One that nobody else caused is a refusal of ours.
func faultOf(err error) event.Fault {
	var f *wire.Failure
	if errors.As(err, &f) {
		return f.Fault
	}
	return event.Refused
}

// dropBody frees the request's body, in each form, and its room: an answer may stream for hours after it.
func (x *exchange) dropBody() {
	x.rewritten, x.shaped, x.opened = nil, nil, nil
	x.ctx.Request.ResetBody()
	x.proxy.admission.Leave(&x.ctx.Request.Header)
	x.proxy.strangers.Delete(&x.ctx.Request.Header)
}

// route chooses the upstream and what it gets as target.
func (x *exchange) route() (up *upstream, target []byte, err error) {
	h := &x.ctx.Request.Header
	target = wire.OriginForm(h.RequestURI())
	switch {
	case h.IsConnect():
		return nil, nil, refusalWith(405, "method_not_allowed", "epitome is not a forward proxy: set it as the base URL, not as HTTP_PROXY")
	case wire.Find(h.RawHeaders(), "transfer-encoding") != nil && wire.Find(h.RawHeaders(), "content-length") != nil:
		x.delivery.to.Close = true
		return nil, nil, refusalWith(400, "bad_request", "the request states both Content-Length and Transfer-Encoding: send one of them")
	case x.proxy.loops.Returned(h.RawHeaders()):
		return nil, nil, refusalWith(508, "loop", looped, noRetry)
	case x.delivery.modeless:
		return nil, nil, refusalWith(400, "bad_request", "x-epitome-mode is none of on, observe and off: correct it, or leave it out")
	case !wire.HasSoundNames(h.RawHeaders()):
		x.delivery.to.Close = true
		return nil, nil, refusalWith(400, "bad_request", "the request has a header line that begins with a blank, or a blank in a header name: check the client and what lies between")
	case bytes.HasPrefix(target, []byte("/u/")):
		if up, target, err = x.set.table.Resolve(target); err != nil {
			return nil, nil, refusalWith(404, "unknown_upstream", err.Error())
		}
	case x.set.table.HasRoutes():
		up = x.set.table.ForModel(x.model(target))
	default:
		up = x.set.table.Fallback
	}
	if up.Peer.AddsHeaders() && wire.IsFromPage(h.RawHeaders()) {
		return nil, nil, refusalWith(403, "cross_site", "epitome adds a credential of yours to requests for this upstream, and takes none from web pages")
	}
	if wire.AsksUpgrade(h.RawHeaders()) && refusesUpgrade(target) {
		return nil, nil, refusalWith(426, "upgrade_required",
			"epitome passes /v1/responses over HTTP only: send the request again without Upgrade", "Connection: upgrade\r\nUpgrade: HTTP/1.1\r\n")
	}
	if !up.HasVersion() {
		target = meant(x.proxy.plugs.Dialects, h, target)
	}
	return up, up.Join(target), nil
}

// modelOf is the model that a body names, of whatever API it is; empty if it names none.
func modelOf(body []byte) string { return gjson.GetBytes(body, "model").String() }

// model is the request's model as far as routing needs it: an unreadable body has none. What had to be decoded of a
// conversation is kept for shape, in opened.
func (x *exchange) model(target []byte) string {
	h, body := &x.ctx.Request.Header, x.ctx.Request.Body()
	encoding := wire.Values(h.RawHeaders(), "content-encoding")
	var err error
	toShape := dialectOf(x.proxy.plugs.Dialects, h, x.event.Mode, target) != nil
	if wire.IsEncoded(encoding) && toShape && !wire.IsSigned(h.RawHeaders()) {
		body, err = x.unpacked(encoding, body)
		x.opened = &opened{body: body, err: err}
	} else {
		body, err = x.decoded(encoding, body)
	}
	if err != nil && !errors.Is(err, errNoRoomLeft) {
		return ""
	}
	name := modelOf(body)
	if err != nil {
		x.opened.body = nil // nothing may hold what there is no room for
	}
	return name
}

// outgoing makes the request ready. Its body is valid until dropBody.
func (x *exchange) outgoing(up *upstream, target []byte) wire.Request {
	h, body, block := &x.ctx.Request.Header, x.ctx.Request.Body(), x.ctx.Request.Header.RawHeaders()
	if x.rewritten != nil {
		body = x.rewritten
	}
	head := wire.RequestHead{
		Method: h.Method(), Target: target, Block: block, Length: len(body),
		Upgrade: wire.AsksUpgrade(h.RawHeaders()), Changed: x.rewritten != nil,
	}
	size := len(head.Block) + len(target) + up.Peer.Size() + 128
	return wire.Request{
		Head: x.proxy.loops.Mark(x.pass, head.AppendTo(make([]byte, 0, size), &up.Peer)),
		Body: body, ToHead: h.IsHead(), Upgrade: head.Upgrade,
		FirstByte: x.set.conf.FirstByteTimeout.D(), ReadIdle: x.set.conf.ReadIdle.D(),
		Sent: func(reused bool) {
			x.event.Reused, x.event.Sent = reused, time.Since(x.event.Start)
		},
		Interim: func(h *wire.Head) error {
			if x.delivery.to.HTTP10 {
				return nil
			}
			return x.delivery.write(h.AppendTo(nil, wire.ClientSide{}))
		},
	}
}

// relay passes the answer on, piece by piece as it comes.
func (x *exchange) relay(a *wire.Answer) error {
	defer func() {
		x.call.OnCut(nil)
		a.End()
	}()
	x.event.Status = a.Code
	closeIfStopping(x)
	x.delivery.frame(a)
	err := x.delivery.relayHead(a, &x.event.ResponseBytes)
	if err == nil {
		err = x.delivery.relayRest(a, &x.call, &x.event.ResponseBytes)
	}
	if err != nil {
		takeCut(x, a)
		return err
	}
	takeUsage(x, a)
	return nil
}

// cut ends the exchange from any goroutine.
func (x *exchange) cut() {
	x.delivery.client.Cut() // before the call: the exchange's end looks at it
	x.call.Cut()
}

// idOf is a short text that no other exchange of this process has.
func idOf(born time.Time, n uint64) string {
	return strconv.FormatInt(born.UnixMilli(), 36) + "-" + strconv.FormatUint(n, 36)
}
