package wire

import (
	"bytes"
	"errors"
)

// Lines iterates over the header lines of one message as they came over the wire.
// The block holds whole lines; it belongs to the caller and is never changed.
type Lines struct {
	rest  []byte
	raw   []byte // the line without its terminator
	Name  []byte // as spelled by the sender
	Value []byte // without the white space around it
}

// LinesOf returns an iterator in front of the first line of a block.
func LinesOf(block []byte) Lines { return Lines{rest: block} }

// Next steps to the next line and reports whether there is one. A blank line ends the block.
func (l *Lines) Next() bool {
	l.raw, l.rest, _ = bytes.Cut(l.rest, []byte("\n"))
	l.raw = bytes.TrimSuffix(l.raw, []byte("\r"))
	if len(l.raw) == 0 {
		return false
	}
	l.Name, l.Value = l.raw, nil
	if i := bytes.IndexByte(l.raw, ':'); i >= 0 {
		l.Name, l.Value = l.raw[:i], bytes.TrimSpace(l.raw[i+1:])
	}
	return true
}

// Is compares the line's name without regard to case.
func (l *Lines) Is(name string) bool { return EqualFold(l.Name, name) }

// AppendTo appends the line as it came.
func (l *Lines) AppendTo(dst []byte) []byte { return append(append(dst, l.raw...), crlf...) }

var crlf = []byte("\r\n")

// EqualFold compares ASCII without regard to case.
func EqualFold(b []byte, text string) bool {
	return len(b) == len(text) && bytes.EqualFold(b, []byte(text)) // of one length, so no other letter folds to ASCII
}

// CheckLines returns an error for a block with a line that the next reader may take for two, for none, or for a part
// of the line before it.
func CheckLines(block []byte) error {
	for l := LinesOf(block); l.Next(); {
		switch {
		case len(l.Name) == 0 || len(l.Name) == len(l.raw):
			return errors.New("there is a header line without a name")
		case bytes.ContainsFunc(l.Name, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
			return errors.New("there is a header name that is not allowed")
		case bytes.IndexByte(l.raw, 0) >= 0 || bytes.IndexByte(l.raw, '\r') >= 0:
			return errors.New("there is a header value that is not allowed")
		}
	}
	return nil
}

// Find returns the value of the first line with the given name, nil when there is none.
func Find(block []byte, name string) []byte {
	for l := LinesOf(block); l.Next(); {
		if l.Is(name) {
			return l.Value
		}
	}
	return nil
}

// Values joins the values of all lines with the given name by commas; it returns nil when there is none. The value of a
// single line is a part of the block.
func Values(block []byte, name string) (all []byte) {
	for l := LinesOf(block); l.Next(); {
		if !l.Is(name) {
			continue
		}
		if all == nil {
			all = l.Value[:len(l.Value):len(l.Value)]
		} else {
			all = append(append(all, ", "...), l.Value...)
		}
	}
	return all
}

// HasToken reports whether a comma-separated value names the token.
func HasToken(value []byte, token string) bool {
	for part := range bytes.SplitSeq(value, []byte(",")) {
		if EqualFold(bytes.TrimSpace(part), token) {
			return true
		}
	}
	return false
}

// IsHop reports whether the line of this name belongs to its connection alone, by RFC 9110, 7.6.1, or because the
// message's own Connection lines name it, whose Values are given.
func IsHop(name, connection []byte) bool {
	for _, hop := range [...]string{
		"connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
		"proxy-connection", "te", "transfer-encoding", "upgrade",
	} {
		if EqualFold(name, hop) {
			return true
		}
	}
	for token := range bytes.SplitSeq(connection, []byte(",")) {
		if bytes.EqualFold(bytes.TrimSpace(token), name) {
			return true
		}
	}
	return false
}

// OwnPrefix begins the names of the request headers that are for epitome; they are not forwarded.
const OwnPrefix = "x-epitome-"

// IsOwn reports whether a header of this name is for epitome.
func IsOwn(name []byte) bool {
	return len(name) > len(OwnPrefix) && EqualFold(name[:len(OwnPrefix)], OwnPrefix)
}

// AppendField appends a header line.
func AppendField(dst, name []byte, value string) []byte {
	dst = append(append(dst, name...), ": "...)
	return append(append(dst, value...), crlf...)
}
