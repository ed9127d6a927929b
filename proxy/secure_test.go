package proxy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/fakeapi/scriptedtest"
)

// secureRig is a rig whose clients speak TLS, and those who trust it.
func secureRig(t *testing.T, script string, change ...func(*Settings)) (*rig, *x509.CertPool) {
	t.Helper()
	p, trust := issue(t, "epitome.test")
	plain, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln, err := p.Listen(plain, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	up := scriptedtest.Start(t, script)
	r := startRigOn(t, ln, up.URL(), change...)
	r.upstream = up
	return r, trust
}

// secureClient is a connection that speaks bytes over TLS.
func secureClient(t *testing.T, r *rig, trust *x509.CertPool) (*tls.Conn, *bufio.Reader) {
	t.Helper()
	c, err := tls.Dial("tcp", r.addr, &tls.Config{RootCAs: trust, ServerName: "epitome.test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c, bufio.NewReader(c)
}

// Over TLS an exchange is what it is without, to the byte, on connections that are kept, watched and used again.
func TestExchangesOverTLSAreTheSame(t *testing.T) {
	const script = "-- POST /a --\nrepeat\nstatus 200 OK\nheader X-Y: z\nchunk one\npause 30ms\nchunk two\nend\n"
	r, trust := secureRig(t, script)
	plain := newRig(t, script)
	bodies := []string{"", "small", strings.Repeat("x", 3000), strings.Repeat("y", 1<<20)}
	c, br := secureClient(t, r, trust)
	p := plain.dial()
	for range 2 {
		for _, body := range bodies {
			in := post("/a", body)
			go func() { _, _ = io.WriteString(c, in) }()
			go func() { _, _ = io.WriteString(p, in) }()
			var got, want bytes.Buffer
			for _, side := range []struct {
				to *bytes.Buffer
				br *bufio.Reader
			}{{&got, br}, {&want, p.br}} {
				resp, err := http.ReadResponse(bufio.NewReader(io.TeeReader(oneByte{side.br}, side.to)), nil)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
			}
			if got.String() != want.String() || !strings.Contains(got.String(), "one") {
				t.Errorf("over TLS\n%q, without\n%q", got.String(), want.String())
			}
			if _, sent := r.got(); sent != body {
				t.Errorf("the upstream got %d bytes, want %d", len(sent), len(body))
			}
		}
	}
}

// oneByte reads so that nothing is read ahead of an answer.
type oneByte struct{ io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(len(p), 1)]) }

// Promise 9: an answer that breaks off does not end in order, though its length is the connection's end; a client that
// leaves ends its call.
func TestCutsShowOverTLS(t *testing.T) {
	r, trust := secureRig(t, "-- GET /until-close --\nstatus 200 OK\nchunk half\npause 30ms\nhangup\n-- GET /s --\nstatus 200 OK\nchunk a\nawait-close\n")
	c, br := secureClient(t, r, trust)
	_, _ = io.WriteString(c, "GET /until-close HTTP/1.0\r\nHost: x\r\n\r\n")
	got, err := io.ReadAll(br)
	if e := r.event(); err == nil || !strings.HasSuffix(string(got), "half") || e.Fault != event.Truncated {
		t.Errorf("the client read %q to %v, event %+v", got, err, e)
	}
	c, br = secureClient(t, r, trust)
	_, _ = io.WriteString(c, get("/s"))
	if _, err := br.ReadString('a'); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if e := r.event(); e.Fault != event.ClientGone {
		t.Errorf("event %+v, want %s", e, event.ClientGone)
	}
}

func TestSilentHandshakesEnd(t *testing.T) {
	noLeaks(t)
	r, _ := secureRig(t, "", func(s *Settings) { s.limits.header = 100 * time.Millisecond })
	for _, begin := range []string{"", "\x16\x03\x01\x02\x00"} {
		c := r.dial().send(begin)
		if got, _ := io.ReadAll(c.br); len(got) > 7 { // an alert at most
			t.Errorf("got %q", got)
		}
	}
}
