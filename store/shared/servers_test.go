package shared_test

import (
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"epitome/proxy/certificatetest"
	"epitome/store/shared"
	"epitome/store/shared/sharedtest"
)

// TestTLSIsSpokenWithWhomItTrusts has a server that speaks TLS alone.
func TestTLSIsSpokenWithWhomItTrusts(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	certificatetest.Issue(t, cert, key, "redis.example.com")
	address := sharedtest.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	sharedtest.Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert,
		"--tls-auth-clients", "no")
	at := "rediss://" + address
	o := patient(at)
	o.Server.CA = cert
	if _, err := opened(t, o).Put("a", []byte("b"), time.Hour); err != nil {
		t.Error(err)
	}
	s, err := shared.Open(patient(at)) // nobody vouches for it
	if err == nil {
		defer func() { _ = s.Close() }()
		_, _, err = s.Find("a")
	}
	if err == nil {
		t.Error("a server is trusted for which nobody vouches")
	}
	if errors.Is(err, shared.ErrUnfit) {
		t.Error("it is unfit: ", err)
	}
}
