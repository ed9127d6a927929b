package proxy

import (
	"bytes"

	"epitome/proxy/wire"
)

// fields are the header fields of a request that decide about its way. The texts are parts of the header lines.
type fields struct {
	mode, traceParent    []byte
	via                  []byte // the marks of each epitome that the request went through
	closes, upgrades     bool   // named by Connection
	protocol             bool   // there is a protocol to upgrade to
	hasLength, hasCoding bool   // the two ways to frame a body
}

// readFields reads the header lines of a request in one pass.
func readFields(head []byte) (f fields) {
	for l := wire.LinesOf(head); l.Next(); {
		switch {
		case l.Is("connection"):
			f.closes = f.closes || wire.HasToken(l.Value, "close")
			f.upgrades = f.upgrades || wire.HasToken(l.Value, "upgrade")
		case l.Is("upgrade"):
			f.protocol = true
		case l.Is("content-length"):
			f.hasLength = true
		case l.Is("transfer-encoding"):
			f.hasCoding = true
		case l.Is(viaHeader):
			f.via = append(f.via, l.Value...)
		case l.Is(wire.OwnPrefix + "mode"):
			f.mode = l.Value
		case l.Is("traceparent"):
			f.traceParent = l.Value
		}
	}
	return f
}

// isSigned reports whether a signature may cover the body: the upstream would refuse any other body. Several clouds
// sign with headers whose names end in content-sha256.
func isSigned(head []byte) bool {
	const sum = "content-sha256"
	for l := wire.LinesOf(head); l.Next(); {
		scheme, _, _ := bytes.Cut(l.Value, []byte(" "))
		switch {
		case l.Is("signature"), l.Is("signature-input"), wire.EqualFold(l.Name[max(0, len(l.Name)-len(sum)):], sum),
			l.Is("authorization") && (wire.EqualFold(scheme, "signature") || wire.EqualFold(scheme, "aws4-hmac-sha256")):
			return true
		}
	}
	return false
}

// sessionID returns the client's name for its session; empty if it has none. A subagent has a session of its own.
func sessionID(head []byte) (id []byte) {
	for l := wire.LinesOf(head); l.Next(); {
		if l.Is("x-claude-code-agent-id") && len(l.Value) > 0 {
			return l.Value
		}
		if len(id) == 0 && namesSession(&l) {
			id = l.Value
		}
	}
	return id
}

// isFromPage reports whether the request comes from a web page. Browsers say so themselves, and let no page keep them
// from it. Programs with pages of their own have origins of other schemes.
func isFromPage(head []byte) bool {
	if site := wire.Find(head, "sec-fetch-site"); site != nil {
		return !wire.EqualFold(site, "same-origin") && !wire.EqualFold(site, "none")
	}
	origin := wire.Find(head, "origin")
	return bytes.HasPrefix(origin, []byte("http")) || string(origin) == "null"
}
