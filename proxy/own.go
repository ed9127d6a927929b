package proxy

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/valyala/fasthttp/fasthttpadaptor"

	"epitome/event"
)

// answerOwn answers a request for epitome itself. The handler runs here, on the connection's goroutine, and its
// request's context ends when the client leaves or the proxy stops.
func (x *exchange) answerOwn() {
	x.to.extra = nil
	w := &ownAnswer{x: x, header: make(http.Header)}
	defer x.endOwn(w)
	life, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.call.onCut(cancel)
	x.client.watch(&x.proxy.watchman, x.call.cut)
	h := &x.ctx.Request.Header
	room := roomFor(x.proxy.plugs.Dialects, h, x.event.Mode, x.event.RequestBytes)
	if !x.proxy.admission.widen(h, room) { // its length was not known before
		x.err = busy(noRoomLeft)
		return
	}
	var r http.Request
	if err := fasthttpadaptor.ConvertRequest(x.ctx, &r, true); err != nil {
		x.err = &refusal{status: 400, code: "bad_request", message: "the request's target is not a URL"}
		return
	}
	for l := linesOf(h.RawHeaders()); l.next(); { // the adaptor keeps names as spelled
		r.Header.Set(string(l.name), string(l.value))
	}
	x.proxy.plugs.Own.ServeHTTP(w, r.WithContext(life))
}

// endOwn ends a request for epitome itself; it is not the story of an exchange, so no event is made.
func (x *exchange) endOwn(w *ownAnswer) {
	if r := recover(); r == http.ErrAbortHandler { // the way of the standard library's handlers
		x.err = &refusal{status: 500, code: "console", message: "the answer could not be completed; ask for less of it"}
	} else if r != nil {
		x.proxy.plugs.Log.Error("panic under /-/", "path", x.event.Path, "panic", r)
		x.err = &failure{event.Panic, errors.New("panic under /-/")}
	}
	x.client.unwatch()
	switch {
	case x.err == nil:
		x.to.close = w.finish() != nil || x.to.close
	case !x.begun:
		_ = x.write(refusalOf(x.err).appendTo(nil, x.to, x.ctx.IsHead()))
	default: // what is cut stays cut
		x.to.close = true
	}
	x.dropBody()
	x.proxy.leave(x)
	x.letGo()
}

// ownAnswer is the http.ResponseWriter for /-/. Until the first Flush it collects the answer, so that it goes out
// with its length; from then on each Flush sends a chunk, or the next bytes of an answer that has told its length.
type ownAnswer struct {
	x       *exchange
	header  http.Header
	status  int
	body    []byte
	flowing bool // the head is out
	sized   bool // its length is, too
	left    int  // bytes of the length that have not been sent
}

func (w *ownAnswer) Header() http.Header { return w.header }

func (w *ownAnswer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *ownAnswer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.x.call.isCut() {
		return 0, errGone
	}
	w.body = append(w.body, p...)
	return len(p), nil
}

// Flush sends what there is. An error shows in the next Write, and in the request's context.
func (w *ownAnswer) Flush() {
	w.WriteHeader(http.StatusOK)
	if w.x.to.http10 {
		return
	}
	var out []byte
	if !w.flowing {
		w.flowing = true
		if w.left, w.sized = w.length(); !w.sized {
			w.header.Set("Transfer-Encoding", "chunked")
		}
		out = w.appendHead(nil)
	}
	if !w.x.ctx.IsHead() {
		out = w.appendPiece(out)
	}
	w.body = w.body[:0]
	w.x.begun = true
	if w.x.write(out) != nil {
		w.x.call.cut()
	}
}

// length is what the handler has said that the answer will be, if it has.
func (w *ownAnswer) length() (bytes int, said bool) {
	bytes, err := strconv.Atoi(w.header.Get("Content-Length"))
	return bytes, err == nil
}

// appendPiece adds what was collected, never more than the length that was told.
func (w *ownAnswer) appendPiece(dst []byte) []byte {
	if w.sized {
		n := min(len(w.body), w.left)
		w.left -= n
		return append(dst, w.body[:n]...)
	}
	if len(w.body) == 0 {
		return dst
	}
	dst = strconv.AppendInt(dst, int64(len(w.body)), 16)
	return append(append(append(dst, crlf...), w.body...), crlf...)
}

func (w *ownAnswer) appendHead(dst []byte) []byte {
	dst = append(dst, "HTTP/1.1 "+strconv.Itoa(w.status)+" "+http.StatusText(w.status)+"\r\n"...)
	for name, values := range w.header {
		for _, v := range values {
			dst = appendField(dst, []byte(name), v)
		}
	}
	if w.x.to.close {
		dst = append(dst, "Connection: close\r\n"...)
	}
	return append(dst, crlf...)
}

func (w *ownAnswer) finish() error {
	w.WriteHeader(http.StatusOK)
	if w.flowing {
		w.Flush()
		switch {
		case w.x.ctx.IsHead():
			return nil
		case w.sized && w.left > 0:
			return errGone
		case w.sized:
			return nil
		}
		return w.x.write([]byte("0\r\n\r\n"))
	}
	if _, said := w.length(); !said || !w.x.ctx.IsHead() { // what was collected is the whole answer, unless none was asked for
		w.header.Set("Content-Length", strconv.Itoa(len(w.body)))
	}
	out := w.appendHead(nil)
	if !w.x.ctx.IsHead() {
		out = append(out, w.body...)
	}
	return w.x.write(out)
}
