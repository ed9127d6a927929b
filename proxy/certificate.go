package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"epitome/internal/unit"
)

// Certificate is the table [tls] of config.toml: the files of the certificate by which clients trust epitome. The zero value
// has none: clients speak without TLS.
type Certificate struct {
	CertFile string `toml:"cert_file"`
	KeyFile  string `toml:"key_file"`
}

// IsSet reports whether clients are to speak TLS.
func (p Certificate) IsSet() bool { return p != Certificate{} }

// Check refuses files that Listen would refuse.
func (p Certificate) Check() error {
	if !p.IsSet() {
		return nil
	}
	_, err := p.load()
	return err
}

// load reads both files.
func (p Certificate) load() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(p.CertFile, p.KeyFile)
	if err != nil {
		return nil, unit.Wrong([]string{"tls", "cert_file"},
			"cannot load tls.cert_file and tls.key_file: %w; give PEM files that belong together", err)
	}
	return &pair, nil
}

// Listen has the connections of ln speak TLS; without a certificate it returns ln.
func (p Certificate) Listen(ln net.Listener, log *slog.Logger) (net.Listener, error) {
	if !p.IsSet() {
		return ln, nil
	}
	k := &certKeeper{pair: p, log: log, stamps: p.stamps()}
	var err error
	if k.now, err = p.load(); err != nil {
		return nil, err
	}
	return &tlsListener{ln, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: k.current, GetConfigForClient: hurryHandshake,
	}}, nil
}

// fileStamp tells whether a file is another one than before.
type fileStamp struct {
	size    int64
	written time.Time
}

// stamps are those of both files, zero for one that cannot be seen.
func (p Certificate) stamps() (all [2]fileStamp) {
	for i, path := range [...]string{p.CertFile, p.KeyFile} {
		if s, err := os.Stat(path); err == nil {
			all[i] = fileStamp{s.Size(), s.ModTime()}
		}
	}
	return all
}

// certKeeper has the certificate in force. To look at two files costs a thousandth of what a handshake does.
type certKeeper struct {
	pair Certificate
	log  *slog.Logger

	mu     sync.Mutex
	stamps [2]fileStamp // of the files when they were read last, before that
	now    *tls.Certificate
}

// current reads the files again if they have changed.
func (k *certKeeper) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	stamps := k.pair.stamps()
	if stamps == k.stamps {
		return k.now, nil
	}
	k.stamps = stamps
	next, err := k.pair.load()
	if err != nil { // told once; half of a renewal changes again
		k.log.Error("the certificate cannot be renewed; the old one stays in force", "error", err.Error())
		return k.now, nil
	}
	k.now = next
	k.log.Info("the certificate was renewed", "file", k.pair.CertFile)
	return k.now, nil
}

// tlsListener hands out connections that speak TLS. The handshake is made by who reads first, within its deadline.
type tlsListener struct {
	net.Listener
	config *tls.Config
}

// handshakeWrite is how long a client may take for what the handshake has to say to it.
const handshakeWrite = 10 * time.Second

// hurryHandshake gives a client that has said its first word so long for the rest. Before, nothing is written that could wait.
func hurryHandshake(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	return nil, hello.Conn.SetWriteDeadline(time.Now().Add(handshakeWrite)) // every later write sets its own
}

// Accept waits for a connection.
func (l *tlsListener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tlsConn{Conn: tls.Server(raw, l.config)}, nil
}

// tlsConn is a client's connection.
type tlsConn struct {
	*tls.Conn
	torn atomic.Bool // it is to end without a word
}

// plainHTTP is the answer to a client that speaks HTTP without TLS.
const plainHTTP = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" +
	"This epitome speaks TLS here: write https:// in place of http://.\n"

// Read reads what the client says. One that does not speak TLS is told so.
func (c *tlsConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	var header tls.RecordHeaderError
	if errors.As(err, &header) && header.Conn != nil && isHTTP(header.RecordHeader) && !c.torn.Swap(true) {
		_, _ = io.WriteString(header.Conn, plainHTTP)
	}
	return n, err
}

// isHTTP reports whether a connection begins with a method of HTTP.
func isHTTP(begin [5]byte) bool {
	switch string(begin[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "PATCH", "DELET":
		return true
	}
	return false
}

// SetLinger is that of the connection below. With 0, Close says nothing either: TLS would tell the client that all
// has been said.
func (c *tlsConn) SetLinger(seconds int) error {
	c.torn.Store(seconds == 0)
	if t, ok := c.NetConn().(interface{ SetLinger(int) error }); ok {
		return t.SetLinger(seconds)
	}
	return nil
}

// Close ends the connection.
func (c *tlsConn) Close() error {
	if c.torn.Load() {
		return c.NetConn().Close()
	}
	return c.Conn.Close()
}

// Trust says how an https upstream is trusted.
type Trust struct {
	CAFile   string `toml:"ca_file"`
	CertFile string `toml:"cert_file"`
	KeyFile  string `toml:"key_file"`
}

// Build reads the files that t names, for the upstream of that name at host.
func (t Trust) Build(name, host string) (*tls.Config, error) {
	c := &tls.Config{
		ServerName:         host,
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(64),
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
