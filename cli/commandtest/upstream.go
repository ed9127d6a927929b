package commandtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/scriptedtest"

	"github.com/rogpeppe/go-internal/txtar"
)

// unsaid is what an upstream answers that does not say how much its models hold.
const unsaid = "-- GET /v1/models --\nrepeat\nstatus 404 No\n-- GET /props* --\nrepeat\nstatus 404 No\n-- GET /api/* --\nrepeat\nstatus 404 No\n"

func playUpstream(s *stage, args []string) {
	s.want(args, 1, "upstream NAME [FILE]")
	text := fmt.Sprintf("-- * * --\nrepeat\nstatus 200 OK\nheader Content-Type: application/json\nbody {\"from\":%q}\n",
		args[0])
	if len(args) > 1 {
		plain, err := txtar.Unquote([]byte(s.ReadFile(args[1])))
		s.Check(err)
		if text = string(plain); !strings.Contains(text, "-- GET /v1/models --") {
			text += unsaid
		}
	}
	script, err := fakeapi.Parse([]byte(text))
	s.Check(err)
	u, err := fakeapi.Start(script)
	s.Check(err)
	s.upstreams[args[0]] = u
	s.Setenv(args[0], u.URL())
	s.Setenv(args[0]+"_addr", u.Addr())
	s.Defer(func() {
		u.Close()
		for _, p := range u.Problems() {
			s.tb.Errorf("upstream %s: %s", args[0], p)
		}
	})
}

func (s *stage) upstreamNamed(name string) *fakeapi.Upstream {
	u := s.upstreams[name]
	if u == nil {
		s.Fatalf("there is no upstream %s", name)
	}
	return u
}

func wantRequest(s *stage, neg bool, args []string) {
	s.want(args, 2, "upstream-saw NAME REGEXP")
	var all strings.Builder
	for _, r := range s.upstreamNamed(args[0]).Requests() {
		fmt.Fprintf(&all, "%s%s\n", bytes.ReplaceAll(r.RawHead, []byte("\r"), nil), r.Body)
	}
	if s.pattern(args[1]).MatchString(all.String()) == neg {
		s.Fatalf("upstream %s saw:\n%s", args[0], all.String())
	}
}

func releaseUpstream(s *stage, args []string) {
	s.want(args, 2, "release NAME WORD")
	s.upstreamNamed(args[0]).Release(args[1])
}

func get(s *stage, args []string)  { s.ask(http.MethodGet, args) }
func post(s *stage, args []string) { s.ask(http.MethodPost, args) }

// ask prints whatever answer there is; only a request without one fails the script.
func (s *stage) ask(method string, args []string) {
	headers := http.Header{}
	for ; len(args) > 1 && args[0] == "-h"; args = args[2:] {
		name, value, _ := strings.Cut(args[1], ": ")
		headers.Set(name, value)
	}
	s.want(args, 1, "get|post [-h HEADER]... URL [FILE]")
	var body io.Reader
	if len(args) > 1 {
		body = strings.NewReader(s.ReadFile(args[1]))
	}
	req, err := http.NewRequest(method, args[0], body)
	s.Check(err)
	req.Header, req.Host = headers, headers.Get("Host")
	client := scriptedtest.Direct()
	client.Timeout = scriptedtest.Patience
	resp, err := client.Do(req)
	s.Check(err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	s.Check(err)
	var head bytes.Buffer
	s.Check(resp.Header.Write(&head))
	_, err = fmt.Fprintf(s.Stdout(), "%s\n%s\n%s\n", resp.Status, strings.ReplaceAll(head.String(), "\r", ""), text)
	s.Check(err)
}
