package wire

import "errors"

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

// chunks follows a chunked body byte by byte, so that the body can be passed on exactly as it came while it is known
// at every moment whether it is complete. It accepts what RFC 9112 allows, except blanks before an extension: a body
// on whose end two parsers could disagree is an error. The zero value stands at the start of a body.
type chunks struct {
	state  chunkState
	digits int   // of the size read so far
	left   int64 // bytes of the current chunk still to come
	spent  int   // bytes of the current extension, or of all trailers
}

// scan takes bytes from b. It returns how many belong to the body and the content that they end in, and an error when
// they break the coding. It stops behind each run of content and at the end of the body.
func (c *chunks) scan(b []byte) (n int, content []byte, err error) {
	for n < len(b) && c.state != chunksEnd {
		if c.state == inContent {
			k := int(min(c.left, int64(len(b)-n)))
			if c.left -= int64(k); c.left == 0 {
				c.state = inEndCR
			}
			return n + k, b[n : n+k], nil
		}
		if !c.step(b[n]) {
			return n, nil, errFraming
		}
		n++
	}
	return n, nil, nil
}

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
		c.state, c.digits, c.spent = inContent, 0, 0
		if c.left == 0 {
			c.state = inTrailer
		}
		return ch == '\n'
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

// sizeByte takes a byte of the size itself, or the first one behind it.
func (c *chunks) sizeByte(ch byte) bool {
	lower := ch | 0x20
	switch {
	case '0' <= ch && ch <= '9':
		return c.digit(ch - '0')
	case 'a' <= lower && lower <= 'f':
		return c.digit(lower - 'a' + 10)
	case c.digits == 0:
		return false
	case ch == '\r':
		c.state = inSizeLF
	case ch == ';':
		c.state = inExt
	case ch == ' ' || ch == '\t':
		c.state = inBlank
	default:
		return false
	}
	return true
}

// digit takes one hexadecimal digit of the size.
func (c *chunks) digit(value byte) bool {
	c.left, c.digits = c.left<<4|int64(value), c.digits+1
	return c.digits <= maxChunkDigits
}

// lineByte takes a byte of a line whose content does not matter, up to its CR.
func (c *chunks) lineByte(ch byte, after chunkState, most int) bool {
	if c.spent++; ch == '\r' {
		c.state = after
		return true
	}
	return ch != '\n' && ch != 0 && c.spent <= most
}
