package proxy

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"

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
	target := string(wire.OriginForm(x.ctx.Request.Header.RequestURI()))
	r, err := http.NewRequestWithContext(x.life, x.event.Method, target, bytes.NewReader(x.body))
	if err != nil {
		return refuse(400, "bad_request", "the request's target is not a URL")
	}
	for l := wire.LinesOf(x.head); l.Next(); {
		r.Header.Add(string(l.Name), string(l.Value))
	}
	r.Host, r.RequestURI, r.RemoteAddr = string(x.ctx.Host()), target, x.ctx.RemoteAddr().String()
	defer func() {
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
	w := &response{exchange: x, header: make(http.Header)}
	x.proxy.deps.Own.ServeHTTP(w, r)
	w.finish()
	return nil
}

// response is the http.ResponseWriter for an answer of epitome's own. Until the first Flush it collects the answer, so
// that it goes out with its length; from then on each Flush sends a chunk.
type response struct {
	exchange *exchange
	header   http.Header
	status   int
	body     []byte // was not sent yet
	chunked  bool   // the head is out
	err      error  // of a write that failed
}

// Header returns the answer's header, which counts until the first Flush.
func (w *response) Header() http.Header { return w.header }

// WriteHeader sets the status, once.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write collects p. It returns the error of the last Flush.
func (w *response) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), w.err
}

// Flush sends the collected bytes as a chunk. Clients of HTTP/1.0 get the whole answer at once.
func (w *response) Flush() {
	if w.exchange.reply.HTTP10 || w.err != nil {
		return
	}
	var out []byte
	if !w.chunked {
		w.chunked, w.exchange.begun = true, true
		w.header.Del("Content-Length")
		w.header.Set("Transfer-Encoding", "chunked")
		out = w.head()
	}
	if len(w.body) > 0 && !w.exchange.ctx.IsHead() {
		out = fmt.Appendf(out, "%x\r\n%s\r\n", len(w.body), w.body)
	}
	w.body = w.body[:0]
	w.err = w.exchange.write(out)
}

// finish sends the rest of the answer. A client that does not get the whole of it loses its connection.
func (w *response) finish() {
	var head, rest []byte
	if w.chunked {
		w.Flush()
		rest = []byte("0\r\n\r\n")
	} else {
		if !w.exchange.ctx.IsHead() || w.header.Get("Content-Length") == "" {
			w.header.Set("Content-Length", strconv.Itoa(len(w.body)))
		}
		head, rest = w.head(), w.body
	}
	if w.exchange.ctx.IsHead() {
		rest = nil
	}
	if w.err == nil {
		w.err = w.exchange.write(append(head, rest...))
	}
	w.exchange.reply.Close = w.exchange.reply.Close || w.err != nil
}

// head returns the head, with the header of the handler.
func (w *response) head() []byte {
	w.WriteHeader(http.StatusOK)
	dst := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n", w.status, http.StatusText(w.status))
	for name, values := range w.header {
		for _, v := range values {
			dst = wire.AppendField(dst, []byte(name), v)
		}
	}
	dst = append(dst, w.exchange.reply.Extra...)
	if w.exchange.reply.Close {
		dst = append(dst, "Connection: close\r\n"...)
	}
	return append(dst, "\r\n"...)
}
