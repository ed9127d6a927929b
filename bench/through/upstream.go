package through

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"epitome/bench/price"
	"epitome/bench/wire"
)

// mostBody is the largest request that the upstream takes, in bytes.
const mostBody = 256 << 20

// receiver is the upstream of a replay through a proxy: it keeps what arrives until the answer to it is shown to claim.
type receiver struct {
	ln     net.Listener
	server *http.Server
	run    string // begins the receipts of this run, and of no other
	limit  time.Duration

	mu      sync.Mutex // guards all below
	issued  int
	waiting map[string]arrival // by receipt
	lost    int                // that nobody claimed in time
	chars   int                // of these
}

// arrival is a request that arrived.
type arrival struct {
	body []byte
	at   time.Time
}

// receive listens on an address. The receiver drops a request that nobody claims within the limit.
func receive(listen string, limit time.Duration) (*receiver, error) {
	ln, err := wire.Listen(listen)
	if err != nil {
		return nil, err
	}
	u := &receiver{ln: ln, run: strings.ToLower(rand.Text()), limit: limit, waiting: make(map[string]arrival)}
	u.server = &http.Server{Handler: u, ReadHeaderTimeout: limit, ReadTimeout: limit, WriteTimeout: 2 * limit,
		ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = u.server.Serve(ln) }() // it ends with close; who cannot be served gets no receipt
	return u, nil
}

func (u *receiver) close() error {
	if err := u.server.Close(); err != nil {
		return fmt.Errorf("cannot close the upstream on %s: %w", u.ln.Addr(), err)
	}
	return nil
}

// ServeHTTP takes a request and answers it with a receipt, as a model's words.
func (u *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.Error(w, `{"error":{"message":"this upstream takes chat completions only","type":"invalid_request_error"}}`, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil {
		http.Error(w, `{"error":{"message":"the request cannot be read","type":"invalid_request_error"}}`,
			http.StatusBadRequest)
		return
	}
	receipt := u.take(body)
	if gjson.GetBytes(body, "stream").Bool() {
		w.Header().Set("Content-Type", "text/event-stream")
		first := completion(receipt, "delta", map[string]any{"role": "assistant", "content": receipt}, nil)
		last := completion(receipt, "delta", map[string]any{}, "stop")
		fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n", first, last)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(completion(receipt, "message", map[string]any{"role": "assistant", "content": receipt}, "stop"))
}

// completion returns an answer, or a piece of one. It tells no usage: what is counted here is not in the model's
// tokens, and a proxy would learn from it.
func completion(receipt, part string, says map[string]any, finish any) []byte {
	object := "chat.completion"
	if part == "delta" {
		object += ".chunk"
	}
	text, err := json.Marshal(map[string]any{
		"id": "chatcmpl-" + receipt, "object": object, "created": 1700000000, "model": "bench",
		"choices": []any{map[string]any{"index": 0, part: says, "finish_reason": finish}},
	})
	if err != nil {
		panic("BUG: an answer of plain values cannot be encoded: " + err.Error())
	}
	return text
}

// take keeps a request and returns its receipt.
func (u *receiver) take(body []byte) string {
	now := time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	for receipt, a := range u.waiting {
		if now.Sub(a.at) > u.limit {
			u.lost, u.chars = u.lost+1, u.chars+price.Size(string(a.body))
			delete(u.waiting, receipt)
		}
	}
	u.issued++
	receipt := u.run + "-" + strconv.Itoa(u.issued)
	u.waiting[receipt] = arrival{body, now}
	return receipt
}

// claim returns the request that an answer is for, once.
func (u *receiver) claim(answer []byte) ([]byte, bool) {
	start := bytes.Index(answer, []byte(u.run+"-"))
	if start < 0 {
		return nil, false
	}
	end := start + len(u.run) + 1
	for end < len(answer) && answer[end] >= '0' && answer[end] <= '9' {
		end++
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	receipt := string(answer[start:end])
	a, found := u.waiting[receipt]
	delete(u.waiting, receipt)
	return a.body, found
}

// countUnclaimed returns how many requests came for which claim saw no answer, and their characters.
func (u *receiver) countUnclaimed() (n, chars int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n, chars = u.lost, u.chars
	for _, a := range u.waiting {
		n, chars = n+1, chars+price.Size(string(a.body))
	}
	return n, chars
}
