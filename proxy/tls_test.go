package proxy

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/fakeapi"
)

// issue writes a certificate for a name and its key to the files, and returns the pair and who trusts it.
func issue(t *testing.T, files Certificate, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	return fakeapi.Issue(t, name, files.CertFile, files.KeyFile)
}

// certificate names two files in a new folder.
func certificate(t *testing.T) Certificate {
	folder := t.TempDir()
	return Certificate{CertFile: filepath.Join(folder, "c.pem"), KeyFile: filepath.Join(folder, "k.pem")}
}

// secureRig is a rig whose clients speak TLS with the certificate.
func secureRig(t *testing.T, files Certificate, play func(*call), change ...func(*Settings)) *rig {
	t.Helper()
	ln, err := files.Listen(listen(t, "127.0.0.1:0"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	up := startProvider(t, play)
	r := startRigOn(t, ln, up.url(), change...)
	r.up = up
	return r
}

// secureClient is a connection that speaks bytes over TLS.
func secureClient(t *testing.T, r *rig, conf *tls.Config) (*tls.Conn, *bufio.Reader) {
	t.Helper()
	c, err := tls.Dial("tcp", r.addr, conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c, bufio.NewReader(c)
}

// Over TLS an exchange is what it is without, to the byte, on a connection that is used again. Promise 9 holds too: an
// answer that breaks off does not end in order, and a client that leaves ends its call.
func TestExchangesOverTLSAreTheSame(t *testing.T) {
	t.Parallel()
	files := certificate(t)
	_, trust := issue(t, files, "epitome.test")
	whole := chunkedHead + chunks("one", "two") + lastChunk
	r := secureRig(t, files, func(c *call) {
		switch c.target {
		case "/cut":
			c.send(chunkedHead + chunks("half"))
			c.hangUp()
		case "/slow":
			c.send(chunkedHead + chunks("a"))
			c.awaitEnd()
		default:
			c.send(chunkedHead+chunks("one"), chunks("two")+lastChunk)
		}
	})
	conf := &tls.Config{RootCAs: trust, ServerName: "epitome.test"}
	c, br := secureClient(t, r, conf)
	for _, body := range []string{"", "small", strings.Repeat("x", 3000), strings.Repeat("y", 1<<20)} {
		go func() { _, _ = io.WriteString(c, post("/a", body)) }()
		got := make([]byte, len(whole))
		if _, err := io.ReadFull(br, got); err != nil || string(got) != whole {
			t.Errorf("got %q, %v", got, err)
		}
		if _, sent := r.got(); sent != body {
			t.Errorf("the upstream got %d bytes, want %d", len(sent), len(body))
		}
		r.event()
	}
	_, _ = io.WriteString(c, "GET /cut HTTP/1.0\r\n\r\n")
	got, err := io.ReadAll(br)
	if e := r.event(); err == nil || !strings.HasSuffix(string(got), "half") || e.Fault != event.Truncated {
		t.Errorf("the client read %q to %v, event %+v", got, err, e)
	}
	c, br = secureClient(t, r, conf)
	_, _ = io.WriteString(c, get("/slow"))
	if _, err := br.ReadString('a'); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	r.wantFault(event.ClientGone)
}

func TestSilentHandshakesEnd(t *testing.T) {
	noLeaks(t)
	files := certificate(t)
	issue(t, files, "epitome.test")
	r := secureRig(t, files, taking, func(s *Settings) { s.limits.arrive = 100 * time.Millisecond })
	for _, begin := range []string{"", "\x16\x03\x01\x02\x00"} {
		if got, _ := io.ReadAll(r.dial().send(begin).br); len(got) > 7 { // an alert at most
			t.Errorf("got %q", got)
		}
	}
}

// A renewed certificate is in force with the next connection; files that cannot be used leave the old one in force, and
// have one line a minute in the log, however many connections come.
func TestCertFileAndKeyFileAreReadAgain(t *testing.T) {
	t.Parallel()
	files := certificate(t)
	issue(t, files, "first")
	var log fakeapi.Log
	ln, err := files.Listen(listen(t, "127.0.0.1:0"), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	r := startRigOn(t, ln, startProvider(t, taking).url())
	f := func(want string) {
		t.Helper()
		c, _ := secureClient(t, r, &tls.Config{InsecureSkipVerify: true})
		if got := c.ConnectionState().PeerCertificates[0].Subject.CommonName; got != want {
			t.Errorf("the certificate is of %s, want %s", got, want)
		}
	}
	f("first")
	issue(t, files, "second")
	f("second")
	if err := os.WriteFile(files.CertFile, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	f("second")
	if err := os.Remove(files.KeyFile); err != nil {
		t.Fatal(err)
	}
	f("second")
	issue(t, files, "third")
	f("third")
	if text := log.String(); strings.Count(text, "cannot renew") != 1 {
		t.Errorf("the log says %s", text)
	}
}

// An upstream may have a certificate of an authority of its own, and ask for one of its client.
func TestUpstreamTLSHasItsCAFileAndShowsItsCertFile(t *testing.T) {
	t.Parallel()
	ours, theirs := certificate(t), certificate(t)
	_, trustsUs := issue(t, ours, "epitome.test")
	pair, _ := issue(t, theirs, "upstream.test")
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.WriteString(w, q.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	up.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs: trustsUs}
	up.StartTLS()
	defer up.Close()
	r := startRig(t, up.URL, func(s *Settings) {
		s.Upstreams["test"] = UpstreamConfig{URL: up.URL, TLS: Trust{
			CAFile: theirs.CertFile, Certificate: Certificate{CertFile: ours.CertFile, KeyFile: ours.KeyFile},
		}}
		s.Upstreams["unshown"] = UpstreamConfig{URL: up.URL, TLS: Trust{CAFile: theirs.CertFile}}
		s.Upstreams["wary"] = UpstreamConfig{URL: up.URL}
	})
	for range 2 {
		r.wantBody(get("/a"), "epitome.test")
	}
	for _, name := range []string{"unshown", "wary"} {
		if resp, body := r.ask(get("/u/" + name + "/a")); resp.StatusCode != 502 || name == "wary" &&
			!strings.Contains(body, "certificate") {
			t.Errorf("%s got %s %s", name, resp.Status, body)
		}
	}
}
