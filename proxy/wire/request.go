package wire

import (
	"bytes"
	"slices"
	"strconv"
	"time"
)

// Request is one request to an upstream.
type Request struct {
	Method  []byte
	Target  []byte // path and query
	Lines   []byte // header lines as the client wrote them; those of its connection, and epitome's own, stay behind
	Body    []byte
	Changed bool // Body is not the client's: lines about its very bytes stay behind, too
	Upgrade bool // the request asks to switch protocols
	Dechunk bool // chunks of the answer lose their framing

	FirstByte time.Duration     // how long the upstream may take to begin its answer
	ReadIdle  time.Duration     // how long the upstream may be silent within its answer
	Interim   func(*Head) error // gets each head before the answer's own, such as 103 Early Hints; may be nil
}

// OriginForm cuts an absolute request target to its path and query.
func OriginForm(target []byte) []byte {
	if len(target) == 0 || target[0] == '/' || target[0] == '*' {
		return target
	}
	_, rest, _ := bytes.Cut(target, []byte("://"))
	i := bytes.IndexAny(rest, "/?")
	if i < 0 {
		return []byte("/")
	}
	if rest[i] == '?' {
		return append([]byte("/"), rest[i:]...)
	}
	return rest[i:]
}

// head returns the head of a request: every end-to-end line of the client's in its place and spelling, with Host and
// framing made right for this upstream, and the upstream's own headers in place of the client's of that name.
func (p *Pool) head(r *Request) []byte {
	dst := make([]byte, 0, len(r.Lines)+len(r.Target)+len(p.added)+256)
	dst = append(append(dst, r.Method...), ' ')
	dst = append(append(dst, r.Target...), " HTTP/1.1\r\n"...)
	connection := Values(r.Lines, "connection")
	hasLength, hasHost := false, false
	for l := LinesOf(r.Lines); l.Next(); {
		switch {
		case l.Is("host"):
			dst, hasHost = AppendField(dst, l.Name, p.host), true
		case l.Is("content-length"), l.Is("transfer-encoding"):
			if !hasLength {
				dst, hasLength = appendLength(dst, l, len(r.Body)), true
			}
		case l.Is("te") && HasToken(l.Value, "trailers"):
			dst = append(dst, "TE: trailers\r\n"...)
		case r.Upgrade && (l.Is("connection") || l.Is("upgrade")):
			dst = l.AppendTo(dst)
		case !p.drops(r, &l) && !IsHop(l.Name, connection):
			dst = l.AppendTo(dst)
		}
	}
	if !hasHost {
		dst = AppendField(dst, []byte("Host"), p.host)
	}
	if !hasLength && len(r.Body) > 0 {
		dst = appendLength(dst, Lines{}, len(r.Body))
	}
	dst = append(dst, p.added...)
	return append(dst, crlf...)
}

// drops reports whether an end-to-end line of a request stays behind.
func (p *Pool) drops(r *Request, l *Lines) bool {
	isReplaced := func(lower string) bool { return l.Is(lower) }
	return l.Is("expect") || IsOwn(l.Name) || r.Changed && describesBytes(l) ||
		slices.ContainsFunc(p.replaced, isReplaced)
}

// describesBytes reports whether a line is about the very bytes of a body: how they are compressed, or a sum of them.
func describesBytes(l *Lines) bool {
	return l.Is("content-encoding") || l.Is("content-md5") || l.Is("digest") || l.Is("content-digest") ||
		l.Is("repr-digest")
}

// appendLength frames a body by its length, in the place of line l. A line that says the same stays as it is.
func appendLength(dst []byte, l Lines, n int) []byte {
	length := strconv.Itoa(n)
	switch {
	case !l.Is("content-length"):
		return AppendField(dst, []byte("Content-Length"), length)
	case string(l.Value) == length:
		return l.AppendTo(dst)
	}
	return AppendField(dst, l.Name, length)
}
