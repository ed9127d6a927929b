package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/proxy/certificatetest"
)

// issue writes a certificate for a name, and its key, into the files of p.
func issue(t *testing.T, p Certificate, name string) {
	t.Helper()
	certificatetest.Issue(t, p.CertFile, p.KeyFile, name)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// served listens with a certificate for "first", and has each connection answered by answer.
func served(t *testing.T, answer func(net.Conn)) (p Certificate, address string, log *bytes.Buffer) {
	t.Helper()
	folder := t.TempDir()
	p = Certificate{CertFile: filepath.Join(folder, "c.pem"), KeyFile: filepath.Join(folder, "k.pem")}
	issue(t, p, "first")
	plain, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log = &bytes.Buffer{}
	ln, err := p.Listen(plain, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_ = c.SetReadDeadline(time.Now().Add(patience))
			answer(c)
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return p, ln.Addr().String(), log
}

// echo answers one piece with itself.
func echo(c net.Conn) {
	buf := make([]byte, 100)
	n, _ := c.Read(buf)
	_, _ = c.Write(buf[:n])
	_ = c.Close()
}

// nameAt is the name in the certificate of who listens there.
func nameAt(t *testing.T, address string) string {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, "x")
	if got, err := io.ReadAll(c); string(got) != "x" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestRenewedCertificateIsInForceWithTheNextConnection(t *testing.T) {
	p, address, log := served(t, echo)
	f := func(want string, lines int) {
		t.Helper()
		for range 3 {
			if got := nameAt(t, address); got != want {
				t.Errorf("the certificate is of %s, want %s", got, want)
			}
		}
		if got := strings.Count(log.String(), "\n"); got != lines {
			t.Errorf("the log has %d lines, want %d: %s", got, lines, log)
		}
	}
	f("first", 0)
	issue(t, p, "second")
	f("second", 1)
	write(t, p.CertFile, "no certificate")
	f("second", 2)
	if err := os.Remove(p.KeyFile); err != nil {
		t.Fatal(err)
	}
	f("second", 3)
	issue(t, p, "third one") // of another length than any before
	f("third one", 4)
	if !strings.Contains(log.String(), "the old one stays in force") {
		t.Errorf("the log says %s", log)
	}
}

func TestUnusableFilesAreRefused(t *testing.T) {
	p, _, _ := served(t, echo)
	if err := errors.Join(p.Check(), Certificate{}.Check()); err != nil {
		t.Error(err)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	if same, err := (Certificate{}).Listen(ln, nil); same != ln || err != nil {
		t.Errorf("without a certificate: %v, %v", same, err)
	}
	for _, wrong := range []Certificate{{CertFile: p.CertFile, KeyFile: p.CertFile}, {CertFile: "absent", KeyFile: p.KeyFile}} {
		_, err := wrong.Listen(ln, nil)
		if check := wrong.Check(); err == nil || check == nil || err.Error() != check.Error() ||
			!strings.Contains(err.Error(), "cannot load tls.cert_file and tls.key_file") {
			t.Errorf("%v: %v, and Check says %v", wrong, err, check)
		}
	}
}
