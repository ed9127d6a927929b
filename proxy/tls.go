package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
)

// Certificate is the table [tls] of config.toml: the files of the certificate by which clients trust epitome. The zero
// value has none: clients speak without TLS.
type Certificate struct {
	CertFile string `toml:"cert_file"`
	KeyFile  string `toml:"key_file"`
}

// IsSet reports whether clients are to speak TLS.
func (c Certificate) IsSet() bool { return c != Certificate{} }

// Check refuses files that Listen would refuse.
func (c Certificate) Check() error {
	if !c.IsSet() {
		return nil
	}
	_, err := c.load()
	return err
}

func (c Certificate) load() (*tls.Certificate, error) {
	return loadPair("tls.cert_file and tls.key_file", c.CertFile, c.KeyFile)
}

// Listen has the connections of ln speak TLS; without a certificate it returns ln. The files are read with each
// handshake, so that a renewed certificate is in force at once; while they cannot be used, the old one stays.
func (c Certificate) Listen(ln net.Listener, log *slog.Logger) (net.Listener, error) {
	if !c.IsSet() {
		return ln, nil
	}
	first, err := c.load()
	if err != nil {
		return nil, err
	}
	var last atomic.Pointer[tls.Certificate]
	last.Store(first)
	renew := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		renewed, err := c.load()
		if err != nil {
			log.Error("cannot renew the certificate; the old one stays in force", "error", err.Error())
			return last.Load(), nil
		}
		last.Store(renewed)
		return renewed, nil
	}
	return tls.NewListener(ln, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: renew,
	}), nil
}

// loadPair reads a certificate and its key from files, which the configuration has under the keys.
func loadPair(keys, certFile, keyFile string) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("cannot load %s: %w; give PEM files that belong together", keys, err)
	}
	return &pair, nil
}

// Trust is the table [upstreams.NAME.tls] of config.toml: how an https upstream is trusted.
type Trust struct {
	CAFile   string `toml:"ca_file"`
	CertFile string `toml:"cert_file"`
	KeyFile  string `toml:"key_file"`
}

// clientConfig reads the files of t, for the upstream at host.
func (t Trust) clientConfig(host string) (*tls.Config, error) {
	c := &tls.Config{
		ServerName: host, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(64),
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read ca_file: %w; give a file of PEM certificates", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cannot use ca_file %s: it holds no certificate in PEM form", t.CAFile)
		}
	}
	if t.CertFile != "" || t.KeyFile != "" {
		pair, err := loadPair("cert_file and key_file", t.CertFile, t.KeyFile)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{*pair}
	}
	return c, nil
}
