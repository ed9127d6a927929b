package proxy

import (
	"fmt"
	"net/http"
	"strconv"

	"epitome/proxy/wire"
)

// response is the http.ResponseWriter for an answer of epitome's own. Until the first Flush it collects the answer, so
// that it goes out with its length; from then on each Flush sends a chunk.
type response struct {
	to     wire.ClientSide
	toHead bool               // a HEAD request: the answer has no body
	write  func([]byte) error // onto the client's connection
	err    error              // of a write that failed

	header http.Header
	status int
	body   []byte // was not sent yet
	begun  bool   // the head is out
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

// Flush sends the collected bytes as a chunk.
func (w *response) Flush() {
	if w.to.HTTP10 || w.err != nil {
		return
	}
	var out []byte
	if !w.begun {
		w.begun = true
		w.header.Del("Content-Length")
		w.header.Set("Transfer-Encoding", "chunked")
		out = w.appendHead(nil)
	}
	if len(w.body) > 0 && !w.toHead {
		out = fmt.Appendf(out, "%x\r\n%s\r\n", len(w.body), w.body)
	}
	w.body = w.body[:0]
	w.err = w.write(out)
}

// finish sends the rest of the answer. An error says that the client does not get the whole of it.
func (w *response) finish() error {
	if w.begun {
		w.Flush()
		if w.err == nil && !w.toHead {
			w.err = w.write([]byte("0\r\n\r\n"))
		}
		return w.err
	}
	if !w.toHead || w.header.Get("Content-Length") == "" {
		w.header.Set("Content-Length", strconv.Itoa(len(w.body)))
	}
	out := w.appendHead(nil)
	if !w.toHead {
		out = append(out, w.body...)
	}
	return w.write(out)
}

// appendHead appends the head, with the header of the handler.
func (w *response) appendHead(dst []byte) []byte {
	w.WriteHeader(http.StatusOK)
	dst = append(dst, "HTTP/1.1 "+strconv.Itoa(w.status)+" "+http.StatusText(w.status)+"\r\n"...)
	for name, values := range w.header {
		for _, v := range values {
			dst = wire.AppendField(dst, []byte(name), v)
		}
	}
	dst = append(dst, w.to.Extra...)
	if w.to.Close {
		dst = append(dst, "Connection: close\r\n"...)
	}
	return append(dst, "\r\n"...)
}
