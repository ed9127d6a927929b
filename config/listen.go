package config

import (
	"errors"
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
	var m mistakes
	names := slices.Clone(c.Context.Names)
	for _, upstream := range c.upstreamNames() {
		names = append(names, c.Upstreams[upstream].Context...)
	}
	for _, name := range names {
		files, _ := c.ContextFiles(folder).List(name)
		m.require(len(files) > 0, "no files are kept under the context %q; 'epitome context add %s FILE' adds one", name, name)
	}
	m.check("", c.CheckAt(c.Listen))
	m.check("", c.TLS.Check())
	m.check("", proxy.Check(c.Settings()))
	return folder, errors.Join(m...)
}

// CheckAt refuses what c must not do when epitome listens on an address beyond loopback: to add credentials to the
// requests of whoever reaches it, unless open says so, and to name artifacts by addresses that agents on other machines
// cannot reach.
func (c *Config) CheckAt(address string) error {
	if console.Loopback(address) {
		return nil
	}
	var m mistakes
	if key := c.credential(); key != "" && !c.Open && len(c.Clients) == 0 {
		m.add("cannot listen on %s: whoever reaches it could spend what %s adds; give clients keys of their own "+
			"in [clients], or write open = true", address, key)
	}
	o := c.Offload
	m.require(o.Bucket == "" || o.URL != "" || o.Place() == "none", "offload.bucket on %s needs offload.url: the URL by "+
		"which agents reach epitome, as https://epitome.example.com/-/artifacts/", address)
	u, err := url.Parse(o.URL)
	m.require(err != nil || !console.Loopback(net.JoinHostPort(u.Hostname(), "1")),
		"offload.url must be an address that agents reach, not %s: epitome listens on %s", o.URL, address)
	return errors.Join(m...)
}

// credential is a key under which a credential stands that epitome adds to requests; empty if there is none.
func (c *Config) credential() string {
	for _, name := range c.upstreamNames() {
		u := c.Upstreams[name]
		for header, value := range u.Headers {
			if value != "" {
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
