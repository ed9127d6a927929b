package fakeapi

import (
	"errors"
	"fmt"
	"strings"
)

// head is the head of an answer or of an interim answer.
type head struct {
	code    int
	label   string // in the trace
	lines   []byte // status line and the script's header lines
	framing []byte // one header line or none; left out in answers to HEAD
	last    []byte // a header line after it, or none

	hasFraming, hasConnection bool // the script gives it itself
}

// add appends one header line.
func (h *head) add(name, field string) {
	h.lines = append(h.lines, field+"\r\n"...)
	switch strings.ToLower(name) {
	case "content-length", "transfer-encoding":
		h.hasFraming = true
	case "connection":
		h.hasConnection = true
	}
}

// appendTo appends the head as it answers a request of this method.
func (h *head) appendTo(dst []byte, method string) []byte {
	dst = append(dst, h.lines...)
	if method != "HEAD" {
		dst = append(dst, h.framing...)
	}
	return append(append(dst, h.last...), "\r\n"...)
}

// finish judges the section as a whole and completes its head.
func (b *builder) finish() error {
	chunked := b.chunks > 0 || b.ended
	switch {
	case len(b.sec.steps) == 0:
		return errors.New("answers nothing; add a status, raw or closing line")
	case b.final == nil && b.raws == 0 && b.closing == "":
		return errors.New("has no status line")
	case b.sec.reading == readNever && len(b.sec.bodyChecks) > 0:
		return errors.New("cannot expect a body after stop-reading")
	case b.sec.reading == readNever && b.sec.slowBytes > 0:
		return errors.New("has both slow-read and stop-reading")
	case chunked && b.bodies > 0:
		return errors.New("has both body and chunk lines")
	case chunked && b.noLength:
		return errors.New("has both chunk lines and no-length")
	case len(b.trailers) > 0 && !b.ended:
		return errors.New("has a trailer that no end line sends")
	case b.chunks > 0 && !b.ended && b.raws == 0 && b.closing == "":
		return errors.New("has chunks without end; say end or how the connection closes")
	}
	if b.final != nil {
		b.frame(chunked)
	}
	return nil
}

// frame adds the header lines that the script leaves to the upstream.
func (b *builder) frame(chunked bool) {
	h := b.final
	if b.sec.closes && !b.noLength && !h.hasConnection {
		h.last = []byte("Connection: close\r\n")
	}
	bodiless := h.code < 200 || h.code == 204 || h.code == 304
	open := b.bodies == 0 && b.closing != "" // the head alone is not yet an answer
	switch {
	case h.hasFraming || b.noLength || bodiless:
	case chunked:
		h.framing = []byte("Transfer-Encoding: chunked\r\n")
	case b.raws == 0 && !open:
		h.framing = fmt.Appendf(nil, "Content-Length: %d\r\n", b.bodySize)
	}
}
