package subject

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"epitome/bench/policy"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

// receiptHeader of an answer names the request that it is for. Proxies pass headers on.
const receiptHeader = "X-Replay-Receipt"

// dialects are those that the upstream takes, by path.
var dialects = map[string]conversation.Dialect{
	"/v1/chat/completions": chat.Dialect{},
	"/v1/messages":         messages.Dialect{},
	"/v1/responses":        responses.Dialect{},
}

// answers say "ok" in each of them. They tell no usage, from which the program would learn: what is counted here is not
// in a real model's tokens.
var answers = map[string]string{
	"/v1/chat/completions": `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"replay",` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`,
	"/v1/messages": `{"id":"msg_1","type":"message","role":"assistant","model":"replay",` +
		`"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","stop_sequence":null}`,
	"/v1/responses": `{"id":"resp_1","object":"response","created_at":1700000000,"model":"replay","status":"completed",` +
		`"output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed",` +
		`"content":[{"type":"output_text","text":"ok","annotations":[]}]}]}`,
}

// upstream is the provider behind the program: it keeps each request until its receipt is claimed.
type upstream struct {
	window int
	unit   policy.Unit
	ln     net.Listener
	server *http.Server

	mu      sync.Mutex // guards all below
	issued  int
	waiting map[string][]byte // by receipt
}

func serveUpstream(window int, unit policy.Unit) (*upstream, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	u := &upstream{window: window, unit: unit, ln: ln, waiting: make(map[string][]byte)}
	u.server = &http.Server{Handler: u, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = u.server.Serve(ln) }() // it ends with close
	return u, nil
}

func (u *upstream) url() string { return "http://" + u.ln.Addr().String() }

func (u *upstream) close() error { return u.server.Close() }

// ServeHTTP takes a request, and refuses it if it is larger than the window.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	dialect, known := dialects[r.URL.Path]
	if r.Method != http.MethodPost || !known {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":{"message":"not found","type":"invalid_request_error"}}`)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program went away
	}
	w.Header().Set(receiptHeader, u.keep(body))
	if n := u.tokens(dialect, body); n > u.window {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded",`+
			`"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. `+
			`Please reduce the length of the messages."}}`, u.window, n)
		return
	}
	fmt.Fprint(w, answers[r.URL.Path])
}

// tokens is how large a request is, as the replay counts it. No token is shorter than a byte.
func (u *upstream) tokens(d conversation.Dialect, body []byte) int {
	if len(body) <= u.window {
		return 0
	}
	request, err := d.Read(body, nil)
	if err != nil {
		return 0
	}
	meter, err := u.unit.Meter(request.Model)
	if err != nil {
		return 0
	}
	n := meter.Fixed(request)
	for i := range request.Items {
		n += meter.ReadItem(request, i).Tokens
	}
	return n
}

// keep keeps a request and returns its receipt.
func (u *upstream) keep(body []byte) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.issued++
	receipt := strconv.Itoa(u.issued)
	u.waiting[receipt] = body
	return receipt
}

// claim returns the request of a receipt, once. Those before it that nobody claimed were refused, or the program's own:
// they are kept no longer than the process.
func (u *upstream) claim(receipt string) ([]byte, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	body, found := u.waiting[receipt]
	delete(u.waiting, receipt)
	return body, found
}
