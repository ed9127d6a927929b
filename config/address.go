package config

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Reachable is the address at which commands on this machine find a program that listens on any address, or on
// localhost.
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
	for _, end := range [...]string{".localhost", ".local", ".internal"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return !strings.Contains(host, ".")
}

// TellsTool says that stubs may name the tool that reads artifacts.
func (c OffloadConfig) TellsTool() bool { return c.Address == "tool" || c.Address == "auto" }

// Place is what stubs name to clients that are told of no tool: "path", "url", "both" or "none".
func (c OffloadConfig) Place() string {
	switch {
	case c.Address == "tool":
		return "none"
	case c.Address == "auto":
		return "path"
	}
	return c.Address
}
