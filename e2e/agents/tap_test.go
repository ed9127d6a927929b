//go:build e2e

package agents_test

import (
	"bytes"
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
	seen     []*passage
	upgrades []*passage // the client asked for a WebSocket
}

// passage is one exchange as the client knows it.
type passage struct {
	body   []byte
	status int
	action string // what epitome says of itself
	answer bytes.Buffer
}

// newTap returns one in front of what target names when somebody asks.
func newTap(t *testing.T, target func() string) *tap {
	p := &tap{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			base, err := url.Parse(target())
			if err != nil {
				t.Error(err)
				return
			}
			r.SetURL(base)
		},
		FlushInterval: -1,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upgrade := r.Header.Get("Upgrade") != ""
		if r.Method != http.MethodPost && !upgrade {
			proxy.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		seen := p.begin(body, upgrade)
		proxy.ServeHTTP(&listener{w, p, seen}, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

func (p *tap) begin(body []byte, upgrade bool) *passage {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := &passage{body: body}
	if upgrade {
		p.upgrades = append(p.upgrades, seen)
	} else {
		p.seen = append(p.seen, seen)
	}
	return seen
}

// refusedUpgrades is how many WebSockets the client asked for, and was told to do without.
func (p *tap) refusedUpgrades() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	refused := 0
	for _, u := range p.upgrades {
		if u.status == http.StatusUpgradeRequired {
			refused++
		}
	}
	return refused
}

// passages are all exchanges, once the client has ended.
func (p *tap) passages() []*passage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
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

// listener hears what a client is told.
type listener struct {
	http.ResponseWriter
	tap  *tap
	seen *passage
}

func (l *listener) WriteHeader(status int) {
	l.tap.mu.Lock()
	l.seen.status, l.seen.action = status, l.Header().Get("x-epitome-action")
	l.tap.mu.Unlock()
	l.ResponseWriter.WriteHeader(status)
}

func (l *listener) Write(p []byte) (int, error) {
	l.tap.mu.Lock()
	l.seen.answer.Write(p)
	l.tap.mu.Unlock()
	return l.ResponseWriter.Write(p)
}

func (l *listener) Unwrap() http.ResponseWriter { return l.ResponseWriter }
