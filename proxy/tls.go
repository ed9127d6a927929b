package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
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
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf(
			"cannot load tls.cert_file and tls.key_file: %w; give PEM files that belong together", err)
	}
	return &pair, nil
}

// Listen has the connections of ln speak TLS; without a certificate it returns ln. A certificate that was renewed is in
// force from the next handshake on; one that cannot be read is logged, and the old one stays.
func (c Certificate) Listen(ln net.Listener, log *slog.Logger) (net.Listener, error) {
	if !c.IsSet() {
		return ln, nil
	}
	k := &renewed{files: c, log: log, written: c.written()}
	var err error
	if k.pair, err = c.load(); err != nil {
		return nil, err
	}
	return tls.NewListener(ln, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: k.current,
	}), nil
}

// written is when the files were last written, zero for one that cannot be seen.
func (c Certificate) written() (at [2]time.Time) {
	for i, path := range [...]string{c.CertFile, c.KeyFile} {
		if s, err := os.Stat(path); err == nil {
			at[i] = s.ModTime()
		}
	}
	return at
}

// renewed has the certificate in force. To look at two files costs a thousandth of a handshake.
type renewed struct {
	files Certificate
	log   *slog.Logger

	mu      sync.Mutex
	written [2]time.Time // of the files, when they were read
	pair    *tls.Certificate
}

// current reads the files again if they have changed.
func (k *renewed) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	written := k.files.written()
	if written == k.written {
		return k.pair, nil
	}
	k.written = written
	next, err := k.files.load()
	if err != nil { // half of a renewal changes again
		k.log.Error("the certificate cannot be renewed; the old one stays in force", "error", err.Error())
		return k.pair, nil
	}
	k.pair = next
	k.log.Info("the certificate was renewed", "file", k.files.CertFile)
	return k.pair, nil
}

// Trust is the table [upstreams.NAME.tls] of config.toml: how an https upstream is trusted.
type Trust struct {
	CAFile   string `toml:"ca_file"`
	CertFile string `toml:"cert_file"`
	KeyFile  string `toml:"key_file"`
}

// clientConfig reads the files of t, for the upstream of that name at host.
func (t Trust) clientConfig(name, host string) (*tls.Config, error) {
	c := &tls.Config{
		ServerName: host, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(64),
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read ca_file: %w; give a file of PEM certificates", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cannot use ca_file %s: it holds no certificate in PEM form", t.CAFile)
		}
	}
	if t.CertFile != "" || t.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("cannot load cert_file and key_file: %w; give PEM files that belong together", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
