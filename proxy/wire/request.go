package wire

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Request is one request as it goes to an upstream.
type Request struct {
	Head      []byte
	Body      []byte
	ToHead    bool          // a HEAD request: its answer has no body
	Upgrade   bool          // the request asks to switch protocols
	Dechunk   bool          // chunks of the answer lose their framing
	FirstByte time.Duration // how long the upstream may take to begin its answer
	ReadIdle  time.Duration // how long the upstream may be silent within its answer

	Interim func(*Head) error // gets each head before the answer's own, such as 103 Early Hints
}

// OriginForm cuts an absolute request target to its path and query.
func OriginForm(target []byte) []byte {
	if len(target) == 0 || target[0] == '/' || target[0] == '*' {
		return target
	}
	_, rest, _ := bytes.Cut(target, []byte("://"))
	switch i := bytes.IndexAny(rest, "/?"); {
	case i < 0:
		return []byte("/")
	case rest[i] == '?':
		return append([]byte("/"), rest[i:]...)
	default:
		return rest[i:]
	}
}

// RequestHead is the head of a request, before it is made right for an upstream.
type RequestHead struct {
	Method  []byte
	Target  []byte // path and query as the upstream gets them
	Block   []byte // the client's header lines as they came
	Length  int    // bytes of body that will follow
	Upgrade bool   // keep the lines that ask to switch protocols
	Changed bool   // the body is not the client's: lines about its bytes are left out
}

// AppendTo appends the head: every end-to-end line of the client's in its place and spelling, with Host and
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
		case l.Is("te") && HasToken(l.Value, "trailers"):
			dst = append(dst, "TE: trailers\r\n"...)
		case r.Upgrade && (l.Is("connection") || l.Is("upgrade")):
			dst = l.AppendTo(dst)
		case l.Is("expect"), IsOwn(l.Name), hop.Has(l.Name), to.replaces(l.Name), r.Changed && describesBytes(l):
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

// appendLength frames the body by its length, in the place of line l. A line that says the same stays as it is.
func appendLength(dst []byte, l Lines, n int) []byte {
	switch {
	case !l.Is("content-length"):
		return AppendField(dst, []byte("Content-Length"), strconv.Itoa(n))
	case string(l.Value) == strconv.Itoa(n):
		return l.AppendTo(dst)
	}
	return AppendField(dst, l.Name, strconv.Itoa(n))
}

// describesBytes reports whether the line is about the very bytes of a body: how they are compressed, or a sum of
// them.
func describesBytes(l Lines) bool {
	return l.Is("content-encoding") || l.Is("content-md5") || l.Is("digest") || l.Is("content-digest") ||
		l.Is("repr-digest")
}

// Peer has the header lines that every request to one server carries.
type Peer struct {
	host     string   // value of the Host header
	lines    []byte   // header lines added to each request
	replaced []string // names of the client's headers that are left out, in lower case
}

// NewPeer makes the peer at host. Each of the headers replaces the client's own; an empty value only leaves that out.
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
	return slices.ContainsFunc(p.replaced, func(lower string) bool { return EqualFold(name, lower) })
}
