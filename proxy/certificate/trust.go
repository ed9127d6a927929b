// Package certificate is TLS on both sides: how the certificates of upstreams are trusted, and the one by which
// clients trust epitome.
//
// It promises that files which cannot be used are named in one sentence that says what to give instead, that a
// certificate that was renewed is in force with the next connection, without a restart, while one that cannot be used
// leaves the old one in force and says so; and that an answer which is cut does not end with the word by which TLS
// says that all was said.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"os"

	"epitome/unit"
)

// Trust says how an https upstream is trusted.
type Trust struct {
	CAFile     string `toml:"ca_file"`
	CertFile   string `toml:"cert_file"`
	KeyFile    string `toml:"key_file"`
	ServerName string `toml:"server_name"`
	Insecure   bool   `toml:"insecure_skip_verify"`
}

// Build reads the files that t names, for the upstream of that name at host.
func (t Trust) Build(name, host string) (*tls.Config, error) {
	c := &tls.Config{
		ServerName:         host,
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: t.Insecure, //nolint:gosec // asked for by name in the configuration
		NextProtos:         []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(64),
	}
	if t.ServerName != "" {
		c.ServerName = t.ServerName
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, wrongFile(name, "ca_file", "cannot read ca_file: %w; give a file of PEM certificates", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, wrongFile(name, "ca_file", "cannot use ca_file %s: it holds no certificate in PEM form", t.CAFile)
		}
	}
	if t.CertFile != "" || t.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, wrongFile(name, "cert_file", "cannot load cert_file and key_file: %w; give PEM files that belong together", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// wrongFile is an error about a file that an upstream's table of TLS names.
func wrongFile(name, key, format string, args ...any) error {
	return unit.Wrong([]string{"upstreams", name, "tls", key}, format, args...)
}
