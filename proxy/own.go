package proxy

import (
	"context"
	"errors"
	"net/http"

	"github.com/valyala/fasthttp/fasthttpadaptor"

	"epitome/event"
	"epitome/proxy/wire"
)

// answerOwn answers a request for epitome itself. The handler runs here, on the connection's goroutine, and its
// request's context ends when the client leaves or the proxy stops.
func (x *exchange) answerOwn() {
	x.delivery.to.Extra = nil
	w := wire.NewResponse(x.delivery.to, x.ctx.IsHead(), &x.call, x.delivery.write)
	defer x.endOwn(w)
	life, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.call.OnCut(cancel)
	x.delivery.client.Watch(x.call.Cut)
	h := &x.ctx.Request.Header
	room := roomFor(x.proxy.plugs.Dialects, h, x.event.Mode, x.event.RequestBytes)
	if !x.proxy.admission.GrowTo(h, room) { // its length was not known before
		x.err = busy(noRoomLeft)
		return
	}
	var r http.Request
	if err := fasthttpadaptor.ConvertRequest(x.ctx, &r, true); err != nil {
		x.err = refusalWith(400, "bad_request", "the request's target is not a URL")
		return
	}
	for l := wire.LinesOf(h.RawHeaders()); l.Next(); { // the adaptor keeps names as spelled
		r.Header.Set(string(l.Name), string(l.Value))
	}
	x.proxy.plugs.Own.ServeHTTP(w, r.WithContext(life))
}

// endOwn ends a request for epitome itself; it is not the story of an exchange, so no event is made.
func (x *exchange) endOwn(w *wire.Response) {
	if r := recover(); r == http.ErrAbortHandler { // the way of the standard library's handlers
		x.err = refusalWith(500, "console", "the answer could not be completed; ask for less of it")
	} else if r != nil {
		x.proxy.plugs.Log.Error("panic under /-/", "path", x.event.Path, "panic", r)
		x.err = &wire.Failure{Fault: event.Panic, Err: errors.New("panic under /-/")}
	}
	x.delivery.client.Unwatch()
	switch {
	case x.err == nil:
		x.delivery.to.Close = w.Finish() != nil || x.delivery.to.Close
	case !w.HasBegun():
		_ = x.delivery.write(refusalOf(x.err).AppendTo(nil, x.delivery.to, x.ctx.IsHead()))
	default: // what is cut stays cut
		x.delivery.to.Close = true
	}
	x.dropBody()
	x.proxy.traffic.leave(x)
	x.delivery.letGo(x.ctx)
}
