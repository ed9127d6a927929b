package wire

import (
	"bytes"
	"net"
	"net/url"
)

// AsksUpgrade reports whether the header lines of a request ask to switch protocols.
func AsksUpgrade(block []byte) bool {
	return ConnectionHas(block, "upgrade") && Find(block, "upgrade") != nil
}

// sumOfContent is how the headers end that signed requests of several clouds have, each with a prefix of its own.
const sumOfContent = "content-sha256"

// IsSigned reports whether the header holds a signature that covers the body, or may: the upstream would refuse any
// other body.
func IsSigned(block []byte) bool {
	for l := LinesOf(block); l.Next(); {
		if l.Is("signature") || l.Is("signature-input") || EqualFold(l.Name[max(0, len(l.Name)-len(sumOfContent)):], sumOfContent) {
			return true
		}
		scheme, _, _ := bytes.Cut(l.Value, []byte(" "))
		if l.Is("authorization") && (EqualFold(scheme, "signature") || EqualFold(scheme, "aws4-hmac-sha256")) {
			return true
		}
	}
	return false
}

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
