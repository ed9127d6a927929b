package wire

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Request is one request ready for the wire, with who wants to hear how it goes.
type Request struct {
	Head      []byte
	Body      []byte
	ToHead    bool          // a HEAD request: its answer has no body
	Upgrade   bool          // it asks to switch protocols
	FirstByte time.Duration // how long the upstream may take to begin its answer
	ReadIdle  time.Duration // how long it may be silent within it

	Sent    func(reused bool) // all of it has been written, or as much as the upstream would take
	Interim func(*Head) error // a head before the answer's own, as 103 Early Hints
}

// OriginForm cuts an absolute request target to its path and query.
func OriginForm(target []byte) []byte {
	if len(target) == 0 || target[0] == '/' || target[0] == '*' {
		return target
	}
	_, rest, _ := bytes.Cut(target, []byte("://"))
	if i := bytes.IndexAny(rest, "/?"); i < 0 {
		return []byte("/")
	} else if rest = rest[i:]; rest[0] == '?' {
		return append([]byte("/"), rest...)
	}
	return rest
}

// RequestHead is what goes upstream in front of the body.
type RequestHead struct {
	Method  []byte
	Target  []byte // path and query as the upstream gets them
	Block   []byte // the client's header lines as they came
	Length  int    // bytes of body that will follow
	Upgrade bool   // keep the lines that ask to switch protocols
	Changed bool   // the body is not the client's: lines that speak of its bytes stay behind
}

// AppendTo writes the head: every end-to-end line of the client's in its place and spelling, with Host and
// framing made right for this upstream, and the upstream's own headers in place of the client's of that name.
func (r RequestHead) AppendTo(dst []byte, to *Peer) []byte {
	dst = append(append(append(append(dst, r.Method...), ' '), r.Target...), " HTTP/1.1\r\n"...)
	hop := HopsOf(r.Block)
	framed, hosted := false, false
	for l := LinesOf(r.Block); l.Next(); {
		switch {
		case l.Is("host"):
			dst, hosted = AppendField(dst, l.Name, to.host), true
		case l.Is("content-length"), l.Is("transfer-encoding"):
			if !framed {
				dst, framed = appendLength(dst, l, r.Length), true
			}
		case l.Is("te"):
			if hasToken(l.Value, "trailers") {
				dst = append(dst, "TE: trailers\r\n"...)
			}
		case r.Upgrade && (l.Is("connection") || l.Is("upgrade")):
			dst = l.AppendTo(dst)
		case l.Is("expect"), IsOwn(l.Name), hop.Has(l.Name), to.replaces(l.Name), r.Changed && ofBytes(l.Name):
		default:
			dst = l.AppendTo(dst)
		}
	}
	if !hosted {
		dst = AppendField(dst, []byte("Host"), to.host)
	}
	if !framed && r.Length > 0 {
		dst = appendLength(dst, Lines{}, r.Length)
	}
	dst = append(dst, to.lines...)
	return append(dst, crlf...)
}

// Peer is the server that a head goes to: what every request to it carries.
type Peer struct {
	host     string   // value of the Host header
	lines    []byte   // header lines added to each request
	replaced []string // names of the client's headers that stay behind, in lower case
}

// NewPeer makes the peer at host, to which each request carries the headers. An empty value adds nothing: it only
// takes the client's header off.
func NewPeer(host string, headers map[string]string) Peer {
	p := Peer{host: host}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if headers[name] != "" {
			p.lines = AppendField(p.lines, []byte(name), headers[name])
		}
		p.replaced = append(p.replaced, strings.ToLower(name))
	}
	return p
}

// replaces reports whether the peer's own headers take the place of the client's header of this name.
func (p *Peer) replaces(name []byte) bool {
	for _, lower := range p.replaced {
		if EqualFold(name, lower) {
			return true
		}
	}
	return false
}

// Size is how many bytes of header lines the peer adds to a request.
func (p *Peer) Size() int { return len(p.lines) }

// AddsHeaders reports whether requests to the peer carry headers of its own.
func (p *Peer) AddsHeaders() bool { return len(p.replaced) > 0 }

// ofBytes reports whether the line speaks of the very bytes of a body: how they are compressed, or a sum of them.
func ofBytes(name []byte) bool {
	for _, s := range [...]string{"content-encoding", "content-md5", "digest", "content-digest", "repr-digest"} {
		if EqualFold(name, s) {
			return true
		}
	}
	return false
}

// appendLength frames the body by its length; the name keeps the client's spelling where it had one.
func appendLength(dst []byte, l Lines, n int) []byte {
	name := l.Name
	if EqualFold(name, "content-length") && string(l.Value) == strconv.Itoa(n) {
		return l.AppendTo(dst)
	}
	if !EqualFold(name, "content-length") {
		name = []byte("Content-Length")
	}
	return AppendField(dst, name, strconv.Itoa(n))
}
