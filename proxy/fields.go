package proxy

import (
	"bytes"

	"epitome/proxy/wire"
)

// fields are the header fields of a request that decide about its way. The texts are parts of the header lines.
type fields struct {
	mode, traceParent, coding []byte
	via                       []byte // the marks of each epitome that the request went through
	session, agent            []byte // the client's names for its session and for its subagent
	origin, site              []byte // where the request comes from, by the browser that sends it
	closes, upgrades          bool   // named by Connection
	protocol                  bool   // there is a protocol to upgrade to
	hasLength, hasCoding      bool   // the two ways to frame a body
	signed                    bool   // a signature may cover the body: the upstream would refuse any other body
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
		case l.Is("content-encoding"):
			f.coding = wire.Values(head, "content-encoding") // of all lines
		case l.Is(viaHeader):
			f.via = append(f.via, l.Value...)
		case l.Is(wire.OwnPrefix + "mode"):
			f.mode = l.Value
		case l.Is("traceparent"):
			f.traceParent = l.Value
		case l.Is("origin"):
			f.origin = l.Value
		case l.Is("sec-fetch-site"):
			f.site = l.Value
		case l.Is("x-claude-code-agent-id"):
			f.agent = l.Value
		case namesSession(&l) && len(f.session) == 0:
			f.session = l.Value
		case isSignature(&l):
			f.signed = true
		}
	}
	return f
}

// isSignature reports whether a header line holds a signature that may cover the body. Several clouds sign with headers
// whose names end in content-sha256.
func isSignature(l *wire.Lines) bool {
	const sum = "content-sha256"
	if l.Is("authorization") {
		scheme, _, _ := bytes.Cut(l.Value, []byte(" "))
		return wire.EqualFold(scheme, "signature") || wire.EqualFold(scheme, "aws4-hmac-sha256")
	}
	return l.Is("signature") || l.Is("signature-input") || wire.EqualFold(l.Name[max(0, len(l.Name)-len(sum)):], sum)
}

// asksUpgrade reports whether the request asks to switch protocols.
func (f *fields) asksUpgrade() bool { return f.upgrades && f.protocol }

// sessionID returns the client's name for its session; empty if it has none. A subagent has a session of its own.
func (f *fields) sessionID() []byte {
	if len(f.agent) > 0 {
		return f.agent
	}
	return f.session
}

// isFromPage reports whether the request comes from a web page. Browsers say so themselves, and let no page keep them
// from it. Programs with pages of their own have origins of other schemes.
func (f *fields) isFromPage() bool {
	if f.site != nil {
		return !wire.EqualFold(f.site, "same-origin") && !wire.EqualFold(f.site, "none")
	}
	return bytes.HasPrefix(f.origin, []byte("http")) || string(f.origin) == "null"
}
