package wire

import (
	"bytes"
)

// Lines walks the header lines of one message as they came over the wire.
// The block must hold whole lines; it belongs to the caller and is never changed.
type Lines struct {
	rest  []byte
	raw   []byte // the line without its terminator, continuation lines included
	Name  []byte // as spelled by the sender
	Value []byte // without the white space around it
}

// LinesOf walks a block of header lines, from its beginning.
func LinesOf(block []byte) Lines { return Lines{rest: block} }

// Next steps to the next line and reports whether there is one. A blank line ends the walk.
func (l *Lines) Next() bool {
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
	l.Name, l.Value = l.raw, nil
	if i := bytes.IndexByte(l.raw, ':'); i >= 0 {
		l.Name, l.Value = l.raw[:i], trimBlank(l.raw[i+1:])
	}
	return true
}

// trimBlank cuts the white space around a value. It is asked for every line of every head several times: bytes.Trim
// takes longer.
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

// Is compares the line's name without regard to case; lower is in lower case.
func (l *Lines) Is(lower string) bool { return EqualFold(l.Name, lower) }

// AppendTo writes the line as it came. A value folded over several lines becomes one, as RFC 9112 asks of a proxy.
func (l *Lines) AppendTo(dst []byte) []byte {
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

var crlf = []byte("\r\n")

// lineEnd is the length of the first line of b with its terminator; a last line without one counts whole.
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}

func trimEOL(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// EqualFold compares ASCII without regard to case; lower is in lower case.
func EqualFold(b []byte, lower string) bool {
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

// HasSoundNames reports whether no header name holds a blank: fasthttp lets them through, and the next server may
// read such a line in another way.
func HasSoundNames(block []byte) bool {
	for l := LinesOf(block); l.Next(); {
		if bytes.IndexByte(l.Name, ' ') >= 0 {
			return false
		}
	}
	return true
}

// Find returns the value of the first line of the given name, nil when there is none.
func Find(block []byte, lower string) []byte {
	for l := LinesOf(block); l.Next(); {
		if l.Is(lower) {
			return l.Value
		}
	}
	return nil
}

// Values returns what all lines of the given name say, one behind the other; nil when there is none.
func Values(block []byte, lower string) (all []byte) {
	for l := LinesOf(block); l.Next(); {
		switch {
		case !l.Is(lower):
		case all == nil:
			all = l.Value[:len(l.Value):len(l.Value)]
		default:
			all = append(append(all, ", "...), l.Value...)
		}
	}
	return all
}

// hasToken reports whether a comma-separated value names the token.
func hasToken(value []byte, lower string) bool {
	for part := range bytes.SplitSeq(value, []byte(",")) {
		if EqualFold(bytes.TrimSpace(part), lower) {
			return true
		}
	}
	return false
}

// ConnectionHas reports whether a Connection line of the message names the token.
func ConnectionHas(block []byte, lower string) bool {
	for l := LinesOf(block); l.Next(); {
		if l.Is("connection") && hasToken(l.Value, lower) {
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

// Hops knows which lines of one message belong to its connection alone.
type Hops struct {
	named [][]byte // values of the message's Connection lines
}

// HopsOf collects what the message's own Connection lines name.
func HopsOf(block []byte) (h Hops) {
	for l := LinesOf(block); l.Next(); {
		if l.Is("connection") && !EqualFold(l.Value, "close") && !EqualFold(l.Value, "keep-alive") {
			h.named = append(h.named, l.Value)
		}
	}
	return h
}

// Has reports whether the line stays on its own connection.
func (h Hops) Has(name []byte) bool {
	for _, s := range hopByHop {
		if EqualFold(name, s) {
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

// OwnPrefix marks the request headers that speak to epitome; they are taken off before forwarding.
const OwnPrefix = "x-epitome-"

// IsOwn reports whether a header of this name speaks to epitome.
func IsOwn(name []byte) bool {
	return len(name) > len(OwnPrefix) && EqualFold(name[:len(OwnPrefix)], OwnPrefix)
}

// AppendField writes a header line.
func AppendField(dst, name []byte, value string) []byte {
	dst = append(append(dst, name...), ": "...)
	return append(append(dst, value...), crlf...)
}
