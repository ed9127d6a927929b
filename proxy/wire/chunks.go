package wire

import (
	"bytes"
	"errors"
	"strconv"
)

// errFraming reports that an upstream broke the rules of the chunked coding; such an answer is cut, never repaired.
var errFraming = errors.New("the upstream's chunked answer is malformed")

// maxChunkLine bounds each line between the chunks of a body, in bytes.
const maxChunkLine = 4 << 10

// chunkState is the kind of framing line that comes next in a chunked body.
type chunkState uint8

const (
	sizeLine    chunkState = iota // the size of a chunk, and its extensions
	endOfChunk                    // the empty line behind a chunk
	trailerLine                   // a trailer, or the empty line that ends the body
	endOfBody                     // none: the body is complete
)

// chunks follows a chunked body, so that the body can be passed on exactly as it came while it is known at every moment
// whether it is complete. It accepts what RFC 9112 allows, except blanks before an extension: a body on whose end two
// parsers could disagree is an error. The zero value stands at the start of a body.
type chunks struct {
	state     chunkState
	remaining int64  // bytes to come of the current chunk
	line      []byte // the beginning of a framing line
}

// scan takes bytes from b. It returns how many belong to the body and the content that they end in, and an error when
// they break the coding. It stops behind each run of content and at the end of the body.
func (c *chunks) scan(b []byte) (n int, content []byte, err error) {
	for n < len(b) && c.state != endOfBody {
		if c.remaining > 0 {
			content = b[n:]
			content = content[:min(c.remaining, int64(len(content)))]
			c.remaining -= int64(len(content))
			return n + len(content), content, nil
		}
		part, _, whole := bytes.Cut(b[n:], []byte("\n"))
		c.line = append(c.line, part...)
		if len(c.line) > maxChunkLine || whole && !c.endLine() {
			return n, nil, errFraming
		}
		n += len(part)
		if whole {
			n++
			c.line = c.line[:0]
		}
	}
	return n, nil, nil
}

// endLine reads a framing line up to its LF, and reports whether the coding allows it.
func (c *chunks) endLine() bool {
	line, ok := bytes.CutSuffix(c.line, []byte("\r"))
	if !ok || bytes.ContainsAny(line, "\r\x00") {
		return false
	}
	switch c.state {
	case sizeLine:
		digits, _, extended := bytes.Cut(line, []byte(";"))
		if !extended {
			digits = bytes.TrimRight(digits, " \t")
		}
		size, err := strconv.ParseUint(string(digits), 16, 60)
		c.remaining, c.state = int64(size), endOfChunk
		if size == 0 {
			c.state = trailerLine
		}
		return err == nil
	case endOfChunk:
		c.state = sizeLine
		return len(line) == 0
	}
	if len(line) == 0 { // behind the trailers
		c.state = endOfBody
		return true
	}
	return !bytes.ContainsRune([]byte(" \t:"), rune(line[0]))
}
