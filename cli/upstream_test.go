package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
)

// fakeUpstream answers the requests of a script, and keeps them.
type fakeUpstream struct {
	answer, models string
	slow           chan struct{} // closed by release; nil for one that is not slow

	mu     sync.Mutex
	heard  strings.Builder // heads and bodies
	bodies []string        // of conversations
}

func (s *stage) upstream(args []string) {
	u := &fakeUpstream{}
	if args[0] == "-slow" {
		u.slow, args = make(chan struct{}), args[1:]
	}
	u.answer = fmt.Sprintf("{\"from\":%q}", args[0])
	if len(args) > 1 {
		u.answer = strings.TrimSpace(s.ReadFile(args[1]))
	}
	if len(args) > 2 {
		u.models = s.ReadFile(args[2])
	}
	server := httptest.NewServer(u)
	s.upstreams[args[0]] = u
	s.Setenv(args[0], server.URL)
	s.Setenv(args[0]+"_addr", server.Listener.Addr().String())
	s.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
}

func (u *fakeUpstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head, _ := httputil.DumpRequest(r, false)
	body, _ := io.ReadAll(r.Body)
	u.mu.Lock()
	fmt.Fprintf(&u.heard, "%s%s\n", bytes.ReplaceAll(head, []byte("\r"), nil), body)
	for _, end := range []string{"/chat/completions", "/messages", "/responses"} {
		if strings.HasSuffix(r.URL.Path, end) {
			u.bodies = append(u.bodies, string(body))
		}
	}
	u.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && u.models == "":
		http.NotFound(w, r)
	case r.Method == http.MethodGet:
		_, _ = io.WriteString(w, u.models)
	case u.slow != nil:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: first\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-u.slow:
			_, _ = io.WriteString(w, "data: last\n\n")
		case <-r.Context().Done():
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, u.answer)
	}
}

func (s *stage) release(args []string) { close(s.upstreams[args[0]].slow) }

func (s *stage) saw(args []string) {
	u := s.upstreams[args[0]]
	u.mu.Lock()
	defer u.mu.Unlock()
	if heard := u.heard.String(); s.pattern(args[1]).MatchString(heard) == s.negated {
		s.Fatalf("upstream %s saw:\n%s", args[0], heard)
	}
}

func (s *stage) sent(args []string) {
	u := s.upstreams[args[0]]
	u.mu.Lock()
	defer u.mu.Unlock()
	k := s.number(args[1])
	if k < 1 || k > len(u.bodies) {
		s.Fatalf("upstream %s got %d conversations", args[0], len(u.bodies))
	}
	s.write(args[2], []byte(u.bodies[k-1]))
}
