package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"epitome/console"
	"epitome/proxy"
)

// Admit returns the data folder, and refuses what serve would refuse before it takes the port.
func (c *Config) Admit() (folder string, err error) {
	if folder, err = c.DataFolder(); err != nil {
		return "", err
	}
	err = errors.Join(c.checkContexts(folder), c.CheckAt(c.Listen), c.TLS.Check(), proxy.Check(c.Settings()))
	return folder, err
}

// CheckAt refuses what c must not do when epitome listens on the address.
func (c *Config) CheckAt(address string) error {
	return errors.Join(c.checkOpen(address), c.checkReach(address))
}

// checkOpen refuses to add credentials to the requests of whoever reaches the address, unless open says so.
func (c *Config) checkOpen(address string) error {
	if c.Open || len(c.Clients) > 0 || console.Loopback(address) {
		return nil
	}
	if key := c.credential(); key != "" {
		return fmt.Errorf("cannot listen on %s: whoever reaches it could spend what %s adds; give clients keys of their own "+
			"in [clients], or write open = true", address, key)
	}
	return nil
}

// credential is a key under which a credential stands that epitome adds to requests; empty if there is none.
func (c *Config) credential() string {
	for _, name := range slices.Sorted(maps.Keys(c.Upstreams)) {
		u := c.Upstreams[name]
		for _, header := range slices.Sorted(maps.Keys(u.Headers)) {
			if u.Headers[header] != "" {
				return "upstreams." + name + ".headers." + header
			}
		}
		if u.TLS.CertFile != "" {
			return "upstreams." + name + ".tls.cert_file"
		}
	}
	if c.Summarize.KeyEnv != "" {
		return "summarize.key_env"
	}
	return ""
}

// checkReach refuses to name artifacts by addresses that agents on other machines cannot reach.
func (c *Config) checkReach(address string) error {
	if console.Loopback(address) {
		return nil
	}
	o := c.Offload
	if o.Bucket != "" && o.URL == "" && o.Place() != "none" {
		return fmt.Errorf("offload.bucket on %s needs offload.url: the URL by which agents reach epitome, as "+
			"https://epitome.example.com/-/artifacts/", address)
	}
	if u, err := url.Parse(o.URL); err == nil && o.URL != "" && console.Loopback(net.JoinHostPort(u.Hostname(), "1")) {
		return fmt.Errorf("offload.url must be an address that agents reach, not %s: epitome listens on %s", o.URL, address)
	}
	return nil
}

// Take takes the address that c listens on, with TLS if c has a certificate.
func (c *Config) Take(log *slog.Logger) (net.Listener, error) {
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; stop what listens there, or give another address with --listen",
			c.Listen, err)
	}
	secure, err := c.TLS.Listen(ln, log)
	if err != nil {
		_ = ln.Close()
		return nil, err
	}
	return secure, nil
}

// URLAt is the URL of an address that c listens on.
func (c *Config) URLAt(address string) string {
	if c.TLS.IsSet() {
		return "https://" + address
	}
	return "http://" + address
}

// ArtifactsAt is the URL of the artifacts of an epitome that listens on an address, unless offload.url gives another.
func (c *Config) ArtifactsAt(listen string) string {
	if c.Offload.URL != "" {
		return strings.TrimSuffix(c.Offload.URL, "/") + "/"
	}
	return c.URLAt(Reachable(listen)) + "/-/artifacts/"
}

// Reachable is the address at which programs on this machine find one that listens on all addresses or on localhost.
func Reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	if err == nil && (host == "" || strings.EqualFold(host, "localhost") || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// IsLocal reports whether a base URL is that of a server on this machine or in its own network.
func IsLocal(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	at := strings.LastIndexByte(host, '.')
	return at < 0 || slices.Contains([]string{".localhost", ".local", ".internal"}, host[at:])
}
