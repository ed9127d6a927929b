package wire

import (
	"net"
	"net/url"
)

// IsFromPage reports whether a request comes from a web page that is not of this machine. Browsers say so themselves,
// and let no page keep them from it.
func IsFromPage(block []byte) bool {
	site := Find(block, "sec-fetch-site")
	if EqualFold(site, "cross-site") || EqualFold(site, "same-site") {
		return true
	}
	origin := Find(block, "origin")
	if origin == nil {
		return false
	}
	at, err := url.Parse(string(origin))
	if err != nil || at.Scheme != "http" && at.Scheme != "https" { // programs with pages of their own have other schemes
		return err != nil || string(origin) == "null"
	}
	ip := net.ParseIP(at.Hostname())
	return at.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}
