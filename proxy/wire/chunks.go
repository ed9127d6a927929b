package wire

import (
	"errors"
)

// errFraming says that an upstream broke the rules of the chunked coding; such an answer is cut, never repaired.
var errFraming = errors.New("the upstream's chunked answer is malformed")

// chunkState is where a chunked body stands between two bytes.
type chunkState uint8

const (
	inSize    chunkState = iota // at the digits of a chunk's size
	inBlank                     // behind blanks after the size, which nothing but the line's end may follow
	inExt                       // in a chunk extension, up to the end of the line
	inSizeLF                    // the size line's LF is next
	inContent                   // within a chunk's data
	inEndCR                     // the CR after the data is next
	inEndLF                     // and its LF
	inTrailer                   // at the start of a trailer line or of the last, empty line
	inField                     // within a trailer line
	inFieldLF                   // the trailer line's LF is next
	inLastLF                    // the LF of the empty line is next
	chunksEnd                   // the body is complete
)

const (
	maxChunkDigits = 15      // keeps a chunk's size within an int64
	maxChunkExt    = 4 << 10 // bytes of extension for one chunk
	maxTrailer     = 32 << 10
)

// chunks follows a chunked body byte by byte, so that it can be passed on exactly as it came while it is known at
// every moment whether it is complete. It accepts what RFC 9112 allows, but for blanks in front of an extension: a
// body on whose end two parsers could disagree is an error. The zero value stands at the start of a body.
type chunks struct {
	state  chunkState
	digits int   // of the size read so far
	left   int64 // bytes of the current chunk still to come
	spent  int   // bytes of the current extension, or of all trailers
}

// scan takes bytes from b. It returns how many belong to the body, the run of content within them if they end
// in one or hold one, and an error when they break the coding. It stops behind each run of content and at the end.
func (c *chunks) scan(b []byte) (n int, content []byte, err error) {
	for n < len(b) && c.state != chunksEnd {
		if c.state == inContent {
			k := int(min(c.left, int64(len(b)-n)))
			content, n, c.left = b[n:n+k], n+k, c.left-int64(k)
			if c.left == 0 {
				c.state = inEndCR
			}
			return n, content, nil
		}
		if !c.step(b[n]) {
			return n, nil, errFraming
		}
		n++
	}
	return n, nil, nil
}

func (c *chunks) done() bool { return c.state == chunksEnd }

// step takes one byte outside of content and reports whether the coding allows it there.
func (c *chunks) step(ch byte) bool {
	switch c.state {
	case inSize:
		return c.sizeByte(ch)
	case inBlank:
		if ch == '\r' {
			c.state = inSizeLF
		}
		return ch == '\r' || ch == ' ' || ch == '\t'
	case inExt:
		return c.lineByte(ch, inSizeLF, maxChunkExt)
	case inSizeLF:
		return ch == '\n' && c.startChunk()
	case inEndCR:
		c.state = inEndLF
		return ch == '\r'
	case inEndLF:
		*c = chunks{}
		return ch == '\n'
	case inTrailer:
		if c.state = inField; ch == '\r' {
			c.state = inLastLF
		}
		c.spent++
		return ch != '\n' && ch != ' ' && ch != '\t' && ch != ':'
	case inField:
		return c.lineByte(ch, inFieldLF, maxTrailer)
	case inFieldLF:
		c.state = inTrailer
		return ch == '\n'
	case inLastLF:
		c.state = chunksEnd
		return ch == '\n'
	}
	return false
}

// sizeByte takes a byte of the size itself.
func (c *chunks) sizeByte(ch byte) bool {
	digit := unhex(ch)
	switch {
	case digit >= 0:
		c.left, c.digits = c.left<<4|int64(digit), c.digits+1
		return c.digits <= maxChunkDigits
	case c.digits == 0:
		return false
	case ch == '\r':
		c.state = inSizeLF
		return true
	case ch == ';':
		c.state = inExt
		return true
	}
	c.state = inBlank
	return ch == ' ' || ch == '\t'
}

// lineByte takes a byte of a line whose content does not matter, up to its CR.
func (c *chunks) lineByte(ch byte, after chunkState, most int) bool {
	c.spent++
	if ch == '\r' {
		c.state = after
		return true
	}
	return ch != '\n' && ch != 0 && c.spent <= most
}

// startChunk is called behind a size line.
func (c *chunks) startChunk() bool {
	c.state, c.digits, c.spent = inContent, 0, 0
	if c.left == 0 {
		c.state = inTrailer
	}
	return true
}

// unhex is the value of a hexadecimal digit, -1 for any other byte.
func unhex(ch byte) int {
	switch {
	case '0' <= ch && ch <= '9':
		return int(ch - '0')
	case 'a' <= ch|0x20 && ch|0x20 <= 'f':
		return int(ch|0x20-'a') + 10
	}
	return -1
}
