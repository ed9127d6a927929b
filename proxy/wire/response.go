package wire

import (
	"net/http"
	"strconv"
)

// Response is the http.ResponseWriter for an answer of epitome's own. Until the first Flush it collects the answer, so
// that it goes out with its length; from then on each Flush sends a chunk, or the next bytes of an answer whose handler
// has set its length.
type Response struct {
	to     ClientSide
	toHead bool // a HEAD request: the answer has no body
	call   *Call
	write  func([]byte) error // onto the client's connection

	header  http.Header
	status  int
	body    []byte // was not sent yet
	flowing bool   // the head is out
	left    int    // bytes of the stated length that have not been sent; unsized if none was stated
}

// unsized is the rest of a flowing answer whose length nobody knows.
const unsized = -1

// NewResponse makes an answer that write puts on the client's connection. A write that fails cuts the call.
func NewResponse(to ClientSide, toHead bool, call *Call, write func([]byte) error) *Response {
	return &Response{to: to, toHead: toHead, call: call, write: write, header: make(http.Header)}
}

// HasBegun reports whether bytes of the answer have gone to the client.
func (w *Response) HasBegun() bool { return w.flowing }

// Header is the answer's header, until its first Flush.
func (w *Response) Header() http.Header { return w.header }

// WriteHeader sets the status, once.
func (w *Response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write collects p. Once the call is cut it takes nothing more.
func (w *Response) Write(p []byte) (int, error) {
	if w.call.IsCut() {
		return 0, ErrGone
	}
	w.body = append(w.body, p...)
	return len(p), nil
}

// Flush sends what there is. An error shows in the next Write, and in the request's context.
func (w *Response) Flush() {
	if w.to.HTTP10 {
		return
	}
	var out []byte
	if !w.flowing {
		w.flowing = true
		var err error
		if w.left, err = strconv.Atoi(w.header.Get("Content-Length")); err != nil {
			w.left = unsized
			w.header.Set("Transfer-Encoding", "chunked")
		}
		out = w.appendHead(nil)
	}
	switch {
	case w.toHead || len(w.body) == 0:
	case w.left == unsized:
		out = append(strconv.AppendInt(out, int64(len(w.body)), 16), crlf...)
		out = append(append(out, w.body...), crlf...)
	default:
		n := min(len(w.body), w.left)
		w.left -= n
		out = append(out, w.body[:n]...)
	}
	w.body = w.body[:0]
	if w.write(out) != nil {
		w.call.Cut()
	}
}

// appendHead adds the head, with the handler's own header lines.
func (w *Response) appendHead(dst []byte) []byte {
	w.WriteHeader(http.StatusOK)
	dst = append(dst, "HTTP/1.1 "+strconv.Itoa(w.status)+" "+http.StatusText(w.status)+"\r\n"...)
	for name, values := range w.header {
		for _, v := range values {
			dst = AppendField(dst, []byte(name), v)
		}
	}
	if w.to.Close {
		dst = append(dst, "Connection: close\r\n"...)
	}
	return append(dst, crlf...)
}

// Finish sends what has not been sent. An error says that the client does not get the whole answer.
func (w *Response) Finish() error {
	if !w.flowing { // what was collected is the whole answer, unless none was asked for
		if !w.toHead || w.header.Get("Content-Length") == "" {
			w.header.Set("Content-Length", strconv.Itoa(len(w.body)))
		}
		out := w.appendHead(nil)
		if !w.toHead {
			out = append(out, w.body...)
		}
		return w.write(out)
	}
	w.Flush()
	switch {
	case w.toHead:
		return nil
	case w.left == unsized:
		return w.write([]byte("0\r\n\r\n"))
	case w.left > 0:
		return ErrGone
	}
	return nil
}
