package wire

import (
	"net/http"
	"strconv"
)

// Response is the http.ResponseWriter for an answer that is made here. Until the first Flush it collects the answer, so
// that it goes out with its length; from then on each Flush sends a chunk, or the next bytes of an answer that has told
// its length.
type Response struct {
	to     ClientSide
	toHead bool // a HEAD request: the answer has no body
	call   *Call
	write  func([]byte) error // onto the client's connection

	header  http.Header
	status  int
	body    []byte
	flowing bool // the head is out
	sized   bool // its length is, too
	left    int  // bytes of the length that have not been sent
}

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
	w.WriteHeader(http.StatusOK)
	if w.call.IsCut() {
		return 0, ErrGone
	}
	w.body = append(w.body, p...)
	return len(p), nil
}

// Flush sends what there is. An error shows in the next Write, and in the request's context.
func (w *Response) Flush() {
	w.WriteHeader(http.StatusOK)
	if w.to.HTTP10 {
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
	if !w.toHead {
		out = w.appendPiece(out)
	}
	w.body = w.body[:0]
	if w.write(out) != nil {
		w.call.Cut()
	}
}

// length is what the handler has said that the answer will be, if it has.
func (w *Response) length() (bytes int, said bool) {
	bytes, err := strconv.Atoi(w.header.Get("Content-Length"))
	return bytes, err == nil
}

// appendPiece adds what was collected, never more than the length that was told.
func (w *Response) appendPiece(dst []byte) []byte {
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

// appendHead adds the head, with the handler's own header lines.
func (w *Response) appendHead(dst []byte) []byte {
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
	w.WriteHeader(http.StatusOK)
	if w.flowing {
		w.Flush()
		switch {
		case w.toHead:
			return nil
		case w.sized && w.left > 0:
			return ErrGone
		case w.sized:
			return nil
		}
		return w.write([]byte("0\r\n\r\n"))
	}
	// What was collected is the whole answer, unless none was asked for.
	if _, said := w.length(); !said || !w.toHead {
		w.header.Set("Content-Length", strconv.Itoa(len(w.body)))
	}
	out := w.appendHead(nil)
	if !w.toHead {
		out = append(out, w.body...)
	}
	return w.write(out)
}
