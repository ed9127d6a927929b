// Package frame finds frames in what a meter sends.
//
// A frame is the byte 0x68, the length of its body, the address of the meter, the kind of the body, the body, a checksum,
// and the byte 0x16. The checksum is the sum of address, kind and body.
package frame

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	start = 0x68
	stop  = 0x16
	extra = 6 // bytes of a frame beside its body
)

// Kinds of bodies.
const (
	Hello    = 0x01
	Readings = 0x72
	Alarm    = 0x75
)

// Frame is a frame whose checksum was right.
type Frame struct {
	Address byte
	Kind    byte
	Body    []byte
}

// Split returns the frames of a stream and how many bytes belong to none. A frame that is cut off at the end is not
// complete; its bytes are the rest.
func Split(stream []byte) (frames []Frame, lost int, rest []byte) {
	for len(stream) > 0 {
		at := bytes.IndexByte(stream, start)
		if at < 0 {
			return frames, lost + len(stream), nil
		}
		lost += at
		stream = stream[at:]
		if len(stream) < 2 || len(stream) < extra+int(stream[1]) {
			return frames, lost, stream
		}
		read, ok := parse(stream[:extra+int(stream[1])])
		if !ok {
			lost++ // the byte 0x68 of something else
			stream = stream[1:]
			continue
		}
		frames = append(frames, read)
		stream = stream[extra+len(read.Body):]
	}
	return frames, lost, nil
}

func parse(text []byte) (Frame, bool) {
	body := text[4 : len(text)-2]
	if text[len(text)-1] != stop || text[len(text)-2] != sum(text[2:len(text)-2]) {
		return Frame{}, false
	}
	return Frame{Address: text[2], Kind: text[3], Body: bytes.Clone(body)}, true
}

// Bytes returns the frame as a meter sends it. The body has at most 255 bytes.
func (f Frame) Bytes() []byte {
	text := []byte{start, byte(len(f.Body)), f.Address, f.Kind}
	text = append(text, f.Body...)
	return append(text, sum(text[2:]), stop)
}

func sum(text []byte) byte {
	var sum byte
	for _, b := range text {
		sum += b
	}
	return sum
}

// Hex reads bytes as hexadecimal digits; blanks between them do not count.
func Hex(text string) ([]byte, error) {
	read, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, fmt.Errorf("frame: %w", err)
	}
	return read, nil
}
