package proxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"epitome/event"
	"epitome/proxy/wire"
)

const (
	ownPath      = "/-/"   // begins the paths of epitome's own pages; everything else is forwarded
	strangerBody = 4 << 10 // bytes of a body under ownPath without a known key, which take no room: a login needs fewer
)

// isOwn reports whether epitome itself answers a request: for its pages, or from a person who opens its address.
func isOwn(h *fasthttp.RequestHeader, path []byte) bool {
	if bytes.HasPrefix(path, []byte(ownPath)) {
		return true
	}
	if !h.IsGet() {
		return false
	}
	wantsPage := bytes.Contains(wire.Find(h.RawHeaders(), "accept"), []byte("text/html"))
	return string(path) == "/favicon.ico" || string(path) == "/" && wantsPage
}

// serveOwn answers a request for epitome itself. The handler runs on the connection's goroutine, and its request's
// context ends when the client leaves or the proxy stops.
func (x *exchange) serveOwn() error {
	most := int64(x.set.conf.MaxBody)
	if _, _, err := x.set.find(x.head); err != nil {
		most = min(most, strangerBody)
	}
	if err := x.receive(most); err != nil {
		return err
	}
	x.client.Watch(x.leave)
	defer context.AfterFunc(x.proxy.serving, x.leave)()
	target := string(x.target)
	r, err := http.NewRequestWithContext(x.life, x.event.Method, target, bytes.NewReader(x.body))
	if err != nil {
		return refuse(400, "bad_request", "the request's target is not a URL")
	}
	for l := wire.LinesOf(x.head); l.Next(); {
		r.Header.Add(string(l.Name), string(l.Value))
	}
	r.Host, r.RequestURI, r.RemoteAddr = string(x.ctx.Host()), target, x.event.Remote
	w := &response{exchange: x, header: make(http.Header)}
	x.proxy.pages.ServeHTTP(w, r)
	w.send(true)
	return nil
}

// response is the http.ResponseWriter for an answer of epitome's own. Until the first Flush it collects the answer, so
// that it goes out with its length; from then on each Flush sends a part of a body that ends with the connection, as
// clients of HTTP/1.0 know no chunks.
type response struct {
	exchange *exchange
	header   http.Header
	status   int
	body     []byte // not yet sent
	err      error  // of a write that failed
}

// Header returns the answer's header, which counts until the first Flush.
func (w *response) Header() http.Header { return w.header }

// WriteHeader sets the status, once.
func (w *response) WriteHeader(status int) { w.status = cmp.Or(w.status, status) }

// Write collects p. It returns the error of the last Flush.
func (w *response) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), w.err
}

// Flush sends the collected bytes.
func (w *response) Flush() {
	if w.err == nil {
		w.send(false)
	}
}

// send writes the collected bytes, behind the head if that has not been sent. A client that does not get the whole
// answer loses its connection.
func (w *response) send(isLast bool) {
	x := w.exchange
	x.endsByClose = x.endsByClose || !isLast
	var out bytes.Buffer
	if !x.begun {
		w.writeHead(&out)
		x.begun = true
	}
	if !x.ctx.IsHead() {
		out.Write(w.body)
	}
	w.body = nil
	if w.err == nil {
		w.err = x.write(out.Bytes())
	}
	x.reply.Close = x.reply.Close || w.err != nil
}

func (w *response) writeHead(out *bytes.Buffer) {
	x := w.exchange
	if x.endsByClose {
		w.header.Del("Content-Length")
		x.reply.Close = true
	} else if !x.ctx.IsHead() || w.header.Get("Content-Length") == "" {
		w.header.Set("Content-Length", strconv.Itoa(len(w.body)))
	}
	w.WriteHeader(http.StatusOK)
	x.reply.Close = x.reply.Close || w.status == http.StatusUnauthorized // a stranger keeps no connection
	fmt.Fprintf(out, "HTTP/1.1 %d %s\r\n", w.status, http.StatusText(w.status))
	_ = w.header.Write(out) // a buffer takes everything
	out.Write(x.reply.Extra)
	if x.reply.Close {
		out.WriteString("Connection: close\r\n")
	}
	out.WriteString("\r\n")
}

// answer sends a whole answer of epitome's own in the place of the upstream's.
func (x *exchange) answer(status int, contentType string, body []byte) error {
	w := response{exchange: x, header: http.Header{"Content-Type": {contentType}}, status: status, body: body}
	w.send(true)
	x.event.Status = status
	return w.err
}

// refusal is an answer of epitome's own to a request that it does not forward, or that the upstream did not answer.
type refusal struct {
	status  int
	code    string // for programs
	message string // one sentence that says what to do
	lines   string // further header lines, each with its CRLF
}

// refuse makes a refusal. Each of the further header lines has its CRLF.
func refuse(status int, code, message string, lines ...string) *refusal {
	return &refusal{status: status, code: code, message: message, lines: strings.Join(lines, "")}
}

func (r *refusal) Error() string { return r.message }

// Status is that of the answer.
func (r *refusal) Status() int { return r.status }

// noRetry is the header line that keeps the official SDKs from sending a request again by themselves.
const noRetry = "x-should-retry: false\r\n"

// refusalOf returns the answer to a client whose request failed.
func refusalOf(err error) *refusal {
	if own, ok := errors.AsType[*refusal](err); ok {
		return own
	}
	f, ok := errors.AsType[*wire.Failure](err)
	switch {
	case !ok || f.Fault == event.Panic:
		return refuse(500, "internal", "epitome failed on this request: a bug in epitome; its log has the details")
	case f.Fault == event.Unreachable:
		return refuse(502, "upstream_unreachable",
			fmt.Sprintf("epitome cannot reach the upstream: %v; check its url and your network", f.Err))
	case f.Fault == event.Timeout:
		return refuse(504, "upstream_timeout",
			"the upstream did not begin to answer within first_byte_timeout: try again, or raise it")
	}
	return refuse(502, "upstream_broken", fmt.Sprintf("the upstream did not answer: %v; "+
		"it may have processed the request, so send it again only if that is safe", f.Err))
}

// body returns the refusal as clients of the common dialects read it: OpenAI's error object, with the type at the top
// level that Anthropic's clients look for.
func (r *refusal) body() []byte {
	b, _ := json.Marshal(map[string]any{ // strings cannot fail
		"type":  "error",
		"error": map[string]any{"message": r.message, "type": "epitome_error", "param": nil, "code": r.code},
	})
	return b
}
