package proxy

import (
	"bytes"
	"net/http"

	"epitome/event"
	"epitome/proxy/wire"
)

const (
	ownPath      = "/-/"   // begins the paths of epitome's own pages; everything else is forwarded
	strangerBody = 4 << 10 // bytes of a body under ownPath without a known key, which take no room: a login needs fewer
)

// serveOwn answers a request for epitome itself. The handler runs on the connection's goroutine, and its request's
// context ends when the client leaves or the proxy stops.
func (x *exchange) serveOwn() (err error) {
	most := int64(x.set.conf.MaxBody)
	if _, _, err := x.set.clients.find(x.head); err != nil {
		most = min(most, strangerBody)
	}
	if err := x.receive(most); err != nil {
		return err
	}
	x.client.Watch(x.leave)
	w := x.response(x.reply)
	defer func() {
		x.begun = w.begun
		switch r := recover(); {
		case r == nil:
		case r != http.ErrAbortHandler: // by which the standard library's handlers break off
			panic(r)
		case x.begun:
			err = &wire.Failure{Fault: event.Truncated, Err: wire.ErrTruncated}
		default:
			err = refuse(500, "console", "the answer could not be completed; ask for less of it")
		}
	}()
	r, err := x.ownRequest()
	if err != nil {
		return refuse(400, "bad_request", "the request's target is not a URL")
	}
	x.proxy.deps.Own.ServeHTTP(w, r)
	if err := w.finish(); err != nil {
		x.reply.Close = true
	}
	return nil
}

// ownRequest returns the request as the standard library's handlers take it.
func (x *exchange) ownRequest() (*http.Request, error) {
	target := string(wire.OriginForm(x.ctx.Request.Header.RequestURI()))
	r, err := http.NewRequestWithContext(x.life, x.event.Method, target, bytes.NewReader(x.body))
	if err != nil {
		return nil, err
	}
	for l := wire.LinesOf(x.head); l.Next(); {
		r.Header.Add(string(l.Name), string(l.Value))
	}
	r.Host, r.RequestURI, r.RemoteAddr = string(x.ctx.Host()), target, x.ctx.RemoteAddr().String()
	return r, nil
}

// response makes an answer of epitome's own.
func (x *exchange) response(to wire.ClientSide) *response {
	return &response{to: to, toHead: x.ctx.IsHead(), write: x.write, header: make(http.Header)}
}
