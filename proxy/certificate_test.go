package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/proxy/certificatetest"
)

// issue writes a certificate for a name and its key into a new folder, and returns the files and who trusts them.
func issue(t *testing.T, name string) (Certificate, *x509.CertPool) {
	t.Helper()
	folder := t.TempDir()
	c := Certificate{CertFile: filepath.Join(folder, "c.pem"), KeyFile: filepath.Join(folder, "k.pem")}
	return c, certificatetest.Issue(t, c.CertFile, c.KeyFile, name)
}

// A renewed certificate is in force with the next connection; files that cannot be used leave the old one in force.
func TestCertificatesAreRenewed(t *testing.T) {
	files, _ := issue(t, "first")
	plain, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln, err := files.Listen(plain, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r := startRigOn(t, ln, "http://127.0.0.1:1")
	f := func(want string) {
		t.Helper()
		c, err := tls.Dial("tcp", r.addr, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if got := c.ConnectionState().PeerCertificates[0].Subject.CommonName; got != want {
			t.Errorf("the certificate is of %s, want %s", got, want)
		}
	}
	f("first")
	certificatetest.Issue(t, files.CertFile, files.KeyFile, "second")
	f("second")
	writeFile(t, files.CertFile, []byte("no certificate"))
	f("second")
	if err := os.Remove(files.KeyFile); err != nil {
		t.Fatal(err)
	}
	f("second")
	certificatetest.Issue(t, files.CertFile, files.KeyFile, "third")
	f("third")
}

func TestUnusableFilesAreRefused(t *testing.T) {
	files, _ := issue(t, "a")
	if err := files.Check(); err != nil {
		t.Error(err)
	}
	for _, wrong := range []Certificate{
		{CertFile: files.CertFile, KeyFile: files.CertFile}, {CertFile: "absent", KeyFile: files.KeyFile},
	} {
		_, err := wrong.Listen(nil, nil)
		if check := wrong.Check(); err == nil || check == nil ||
			!strings.Contains(err.Error(), "cannot load tls.cert_file and tls.key_file") {
			t.Errorf("%v: %v, and Check says %v", wrong, err, check)
		}
	}
}

// An upstream may ask for a certificate of its client, and have one of an authority of its own.
func TestUpstreamIsShownTheClientCertificate(t *testing.T) {
	ours, trustsUs := issue(t, "epitome.test")
	theirs, _ := issue(t, "upstream.test")
	pair, err := theirs.load()
	if err != nil {
		t.Fatal(err)
	}
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.WriteString(w, q.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	up.TLS = &tls.Config{
		Certificates: []tls.Certificate{*pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trustsUs,
	}
	up.StartTLS()
	defer up.Close()
	r := startRig(t, up.URL, func(s *Settings) {
		s.Upstreams["test"] = UpstreamConfig{URL: up.URL, TLS: Trust{
			CAFile: theirs.CertFile, CertFile: ours.CertFile, KeyFile: ours.KeyFile,
		}}
		s.Upstreams["unknown"] = UpstreamConfig{URL: up.URL, TLS: Trust{CAFile: theirs.CertFile}}
	})
	if _, body := r.dial().send(get("/a")).answer("GET"); body != "epitome.test" {
		t.Errorf("got %q", body)
	}
	if resp, _ := r.dial().send(get("/u/unknown/a")).answer("GET"); resp.StatusCode != 502 {
		t.Errorf("without a certificate got %s", resp.Status)
	}
}
