// Package sse reads event streams, as text/event-stream carries them.
//
// It promises: lines end with CR, LF or CRLF, and neither where a stream is cut into pieces nor how its lines end
// changes what is read. It reads as browsers do: names of fields are exact, one space behind the colon is none of the
// value, several lines of data are one. Unlike browsers it hands out an event that ends with the stream and not with
// an empty line, as some servers leave that out. It assumes that what begins a stream is in its first piece, and
// knows nothing of what events say.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// Field is one line of a stream. One without a Name is a comment; the empty line, which ends an event, has neither.
type Field struct {
	Name, Value []byte
	End         bool // the line is empty
}

// Comment reports whether the line is one that says nothing, and only shows that somebody is there.
func (f Field) Comment() bool { return len(f.Name) == 0 && !f.End }

// Next reads the first line of data. ok is false while its end is not there; rest is all behind it. A CR that is the
// last byte ends no line yet, as an LF may belong to it.
func Next(data []byte) (f Field, rest []byte, ok bool) {
	n, end := lineEnd(data)
	if end < 0 {
		return Field{}, data, false
	}
	return parse(data[:n]), data[end:], true
}

// lineEnd returns how long the first line is, and where the next one begins; -1 if that is not known yet.
func lineEnd(data []byte) (n, next int) {
	n = bytes.IndexAny(data, "\r\n")
	switch {
	case n < 0:
		return 0, -1
	case data[n] == '\n':
		return n, n + 1
	case n+1 == len(data):
		return 0, -1
	case data[n+1] == '\n':
		return n, n + 2
	}
	return n, n + 1
}

// Fields gives all lines of a stream that is there whole, the last one too if it has no end.
func Fields(stream []byte) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for rest := TrimMark(stream); len(rest) > 0; {
			f, behind, whole := Next(rest)
			if !whole {
				f, behind = parse(bytes.TrimSuffix(rest, []byte("\r"))), nil
			}
			if rest = behind; !yield(f) {
				return
			}
		}
	}
}

// parse reads a line without its end.
func parse(line []byte) Field {
	if len(line) == 0 {
		return Field{End: true}
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	return Field{Name: name, Value: bytes.TrimPrefix(value, []byte(" "))}
}

// mark may stand at the beginning of a stream, and says nothing.
const mark = "\ufeff"

// TrimMark returns the beginning of a stream without the mark that its encoding may have left there.
func TrimMark(begin []byte) []byte { return bytes.TrimPrefix(begin, []byte(mark)) }

// Looks reports whether what begins so is an event stream, whatever its type says.
func Looks(begin []byte) bool {
	begin = bytes.TrimLeft(begin, " \t\r\n"+mark)
	for _, field := range []string{"data:", "event:", ":", "id:", "retry:"} {
		if bytes.HasPrefix(begin, []byte(field)) {
			return true
		}
	}
	return false
}

// Event is one event of a stream.
type Event struct {
	Type string // empty if the stream does not say
	ID   string // the last one that the stream has said, with this event or before
	Data []byte // its lines, with LF between them; not valid any more when the next event is read
}

// ErrTooLong says that an event is longer than it may be.
var ErrTooLong = errors.New("an event of the stream is too long")

// Reader reads the events of a stream, one by one.
type Reader struct {
	lines *bufio.Scanner
	most  int
	begun bool
	event Event // as far as it was read
	data  bool  // it has some, if only an empty line
}

// NewReader reads from in. No line and no event's data is longer than most bytes.
func NewReader(in io.Reader, most int) *Reader {
	r := &Reader{lines: bufio.NewScanner(in), most: most}
	r.lines.Buffer(nil, most+len("\r\n"))
	r.lines.Split(splitLines)
	return r
}

// Next returns the next event that has data. After the last one it returns io.EOF, whether the stream said that it
// ends or not; where the stream fails, what was read of an event is dropped and the failure returned.
func (r *Reader) Next() (Event, error) {
	r.event.Type, r.event.Data, r.data = "", r.event.Data[:0], false
	for r.lines.Scan() {
		line := r.lines.Bytes()
		if !r.begun {
			line, r.begun = TrimMark(line), true
		}
		f := parse(line)
		if f.End && r.data {
			return r.event, nil
		}
		if err := r.add(f); err != nil {
			return Event{}, err
		}
	}
	if err := r.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Event{}, ErrTooLong
	} else if err != nil {
		return Event{}, err
	}
	if r.data {
		return r.event, nil
	}
	return Event{}, io.EOF
}

// add takes a line into the event that is being read.
func (r *Reader) add(f Field) error {
	switch {
	case f.End: // of an event without data, which is none
		r.event.Type = ""
	case string(f.Name) == "event":
		r.event.Type = string(f.Value)
	case string(f.Name) == "id" && bytes.IndexByte(f.Value, 0) < 0:
		r.event.ID = string(f.Value)
	case string(f.Name) == "data":
		if r.data {
			r.event.Data = append(r.event.Data, '\n')
		}
		r.event.Data, r.data = append(r.event.Data, f.Value...), true
	}
	if len(r.event.Data) > r.most {
		return ErrTooLong
	}
	return nil
}

// splitLines returns a bufio.SplitFunc whose tokens are lines without their ends.
func splitLines(data []byte, last bool) (advance int, line []byte, err error) {
	n, next := lineEnd(data)
	switch {
	case next >= 0:
		return next, data[:n], nil
	case last && len(data) > 0:
		return len(data), bytes.TrimSuffix(data, []byte("\r")), nil
	}
	return 0, nil, nil
}
