//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// tap stands between a client and what it asks, and keeps both sides of each exchange.
type tap struct {
	URL string

	mu       sync.Mutex // guards what follows, and what it points to
	passages []*passage // of POST requests
	upgrades int        // WebSockets that were refused
}

// passage is an exchange as the client knows it.
type passage struct {
	body   []byte
	status int
	action string // the header by which epitome says what it did
	answer bytes.Buffer
}

// tapKey is the key of a passage in its request's context.
type tapKey struct{}

// newTap returns one in front of the base URL that target returns when somebody asks.
func newTap(t *testing.T, target func() string) *tap {
	p := &tap{}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			if base, err := url.Parse(target()); err == nil {
				r.SetURL(base)
			}
		},
		ModifyResponse: func(r *http.Response) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if r.StatusCode == http.StatusUpgradeRequired {
				p.upgrades++
			}
			if r.Request.Method == http.MethodPost {
				seen := r.Request.Context().Value(tapKey{}).(*passage)
				seen.status, seen.action = r.StatusCode, r.Header.Get("x-epitome-action")
				r.Body = &listener{r.Body, p, seen}
			}
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			seen := &passage{body: body}
			p.mu.Lock()
			p.passages = append(p.passages, seen)
			p.mu.Unlock()
			r = r.WithContext(context.WithValue(r.Context(), tapKey{}, seen))
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// listener keeps what a client is answered.
type listener struct {
	io.ReadCloser
	tap  *tap
	seen *passage
}

func (l *listener) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b)
	l.tap.mu.Lock()
	defer l.tap.mu.Unlock()
	l.seen.answer.Write(b[:n])
	return n, err
}

// fault is what a client would take for an error; "" for none.
func (s *passage) fault() string {
	answer := s.answer.String()
	for _, name := range []string{"error", "response.failed", "response.incomplete"} {
		if strings.Contains(answer, "event: "+name+"\n") {
			return answer
		}
	}
	if s.status != http.StatusOK {
		return answer
	}
	return ""
}
