package proxy

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// lines walks the header lines of one message as they came over the wire.
// The block must hold whole lines; it belongs to the caller and is never changed.
type lines struct {
	rest  []byte
	raw   []byte // the line without its terminator, continuation lines included
	name  []byte // as spelled by the sender
	value []byte // without the white space around it
}

// linesOf walks a block of header lines, from its beginning.
func linesOf(block []byte) lines { return lines{rest: block} }

// next steps to the next line and reports whether there is one. A blank line ends the walk.
func (l *lines) next() bool {
	end := lineEnd(l.rest)
	if end == 0 {
		return false
	}
	for end < len(l.rest) && (l.rest[end] == ' ' || l.rest[end] == '\t') {
		end += lineEnd(l.rest[end:])
	}
	l.raw, l.rest = trimEOL(l.rest[:end]), l.rest[end:]
	if len(l.raw) == 0 {
		return false
	}
	name, value, _ := bytes.Cut(l.raw, colon)
	l.name, l.value = name, trimBlank(value)
	return true
}

// trimBlank cuts the white space around a value. It is asked for every line of every head several times: bytes.Trim takes longer.
func trimBlank(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// is compares the line's name without regard to case; lower is in lower case.
func (l *lines) is(lower string) bool { return equalFold(l.name, lower) }

// appendTo writes the line as it came. A value folded over several lines becomes one, as RFC 9112 asks of a proxy.
func (l *lines) appendTo(dst []byte) []byte {
	if bytes.IndexByte(l.raw, '\n') < 0 {
		dst = append(dst, l.raw...)
		return append(dst, crlf...)
	}
	for part := range bytes.Lines(l.raw) {
		dst = append(dst, trimEOL(part)...)
		dst = append(dst, ' ')
	}
	return append(dst[:len(dst)-1], crlf...)
}

var (
	colon = []byte(":")
	crlf  = []byte("\r\n")
)

// lineEnd is the length of the first line of b with its terminator; a last line without one counts whole.
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}

func trimEOL(line []byte) []byte {
	line = bytes.TrimSuffix(line, crlf[1:])
	return bytes.TrimSuffix(line, crlf[:1])
}

// equalFold compares ASCII without regard to case; lower is in lower case.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// soundNames reports whether no header name holds a blank: fasthttp lets them through, and the next server may
// read such a line in another way.
func soundNames(block []byte) bool {
	for l := linesOf(block); l.next(); {
		if bytes.IndexByte(l.name, ' ') >= 0 {
			return false
		}
	}
	return true
}

// find returns the value of the first line of the given name, nil when there is none.
func find(block []byte, lower string) []byte {
	for l := linesOf(block); l.next(); {
		if l.is(lower) {
			return l.value
		}
	}
	return nil
}

// values returns what all lines of the given name say, one behind the other; nil when there is none.
func values(block []byte, lower string) (all []byte) {
	for l := linesOf(block); l.next(); {
		switch {
		case !l.is(lower):
		case all == nil:
			all = l.value[:len(l.value):len(l.value)]
		default:
			all = append(append(all, ", "...), l.value...)
		}
	}
	return all
}

// hasToken reports whether a comma-separated value names the token.
func hasToken(value []byte, lower string) bool {
	for part := range bytes.SplitSeq(value, []byte(",")) {
		if equalFold(bytes.TrimSpace(part), lower) {
			return true
		}
	}
	return false
}

// connectionHas reports whether a Connection line of the message names the token.
func connectionHas(block []byte, lower string) bool {
	for l := linesOf(block); l.next(); {
		if l.is("connection") && hasToken(l.value, lower) {
			return true
		}
	}
	return false
}

// hopByHop are the names that concern one connection only (RFC 9110, 7.6.1) and are never passed on.
var hopByHop = [...]string{
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
	"proxy-connection", "te", "transfer-encoding", "upgrade",
}

// hops knows which lines of one message belong to its connection alone.
type hops struct {
	named [][]byte // values of the message's Connection lines
}

// hopsOf collects what the message's own Connection lines name.
func hopsOf(block []byte) (h hops) {
	for l := linesOf(block); l.next(); {
		if l.is("connection") && !equalFold(l.value, "close") && !equalFold(l.value, "keep-alive") {
			h.named = append(h.named, l.value)
		}
	}
	return h
}

// has reports whether the line stays on its own connection.
func (h hops) has(name []byte) bool {
	for _, s := range hopByHop {
		if equalFold(name, s) {
			return true
		}
	}
	if len(h.named) == 0 {
		return false
	}
	lower := string(bytes.ToLower(name))
	for _, value := range h.named {
		if hasToken(value, lower) {
			return true
		}
	}
	return false
}

// ownPrefix marks the request headers that speak to epitome; they are taken off before forwarding.
const ownPrefix = "x-epitome-"

func isOwn(name []byte) bool {
	return len(name) > len(ownPrefix) && equalFold(name[:len(ownPrefix)], ownPrefix)
}

// requestHead is what goes upstream in front of the body.
type requestHead struct {
	method  []byte
	target  []byte // path and query as the upstream gets them
	block   []byte // the client's header lines as they came
	length  int    // bytes of body that will follow
	upgrade bool   // keep the lines that ask to switch protocols
	changed bool   // the body is not the client's: lines that speak of its bytes stay behind
}

// appendTo writes the head: every end-to-end line of the client's in its place and spelling, with Host and
// framing made right for this upstream, and the upstream's own headers in place of the client's of that name.
func (r requestHead) appendTo(dst []byte, to *peer) []byte {
	dst = append(append(append(append(dst, r.method...), ' '), r.target...), " HTTP/1.1\r\n"...)
	hop := hopsOf(r.block)
	framed, hosted := false, false
	for l := linesOf(r.block); l.next(); {
		switch {
		case l.is("host"):
			dst, hosted = appendField(dst, l.name, to.host), true
		case l.is("content-length"), l.is("transfer-encoding"):
			if !framed {
				dst, framed = appendLength(dst, l, r.length), true
			}
		case l.is("te"):
			if hasToken(l.value, "trailers") {
				dst = append(dst, "TE: trailers\r\n"...)
			}
		case r.upgrade && (l.is("connection") || l.is("upgrade")):
			dst = l.appendTo(dst)
		case l.is("expect"), isOwn(l.name), hop.has(l.name), to.replaces(l.name), r.changed && ofBytes(l.name):
		default:
			dst = l.appendTo(dst)
		}
	}
	if !hosted {
		dst = appendField(dst, []byte("Host"), to.host)
	}
	if !framed && r.length > 0 {
		dst = appendLength(dst, lines{}, r.length)
	}
	dst = append(dst, to.lines...)
	return append(dst, crlf...)
}

// peer is the server that a head goes to: what every request to it carries.
type peer struct {
	host     string   // value of the Host header
	lines    []byte   // header lines added to each request
	replaced []string // names of the client's headers that stay behind, in lower case
}

// newPeer makes the peer at host, to which each request carries the headers. An empty value adds nothing: it only takes the
// client's header off.
func newPeer(host string, headers map[string]string) peer {
	p := peer{host: host}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if headers[name] != "" {
			p.lines = appendField(p.lines, []byte(name), headers[name])
		}
		p.replaced = append(p.replaced, strings.ToLower(name))
	}
	return p
}

// replaces reports whether the peer's own headers take the place of the client's header of this name.
func (p *peer) replaces(name []byte) bool {
	for _, lower := range p.replaced {
		if equalFold(name, lower) {
			return true
		}
	}
	return false
}

// size is how many bytes of header lines the peer adds to a request.
func (p *peer) size() int { return len(p.lines) }

// addsHeaders reports whether requests to the peer carry headers of its own.
func (p *peer) addsHeaders() bool { return len(p.replaced) > 0 }

// ofBytes reports whether the line speaks of the very bytes of a body: how they are compressed, or a sum of them.
func ofBytes(name []byte) bool {
	for _, s := range [...]string{"content-encoding", "content-md5", "digest", "content-digest", "repr-digest"} {
		if equalFold(name, s) {
			return true
		}
	}
	return false
}

// appendLength frames the body by its length; the name keeps the client's spelling where it had one.
func appendLength(dst []byte, l lines, n int) []byte {
	name := l.name
	if equalFold(name, "content-length") && string(l.value) == strconv.Itoa(n) {
		return l.appendTo(dst)
	}
	if !equalFold(name, "content-length") {
		name = []byte("Content-Length")
	}
	return appendField(dst, name, strconv.Itoa(n))
}

func appendField(dst, name []byte, value string) []byte {
	dst = append(append(dst, name...), ": "...)
	return append(append(dst, value...), crlf...)
}
