package answer

import (
	"bytes"
	"iter"
)

// Field is one line of a stream. A comment has no Name; the empty line, which ends an event, has neither.
type Field struct {
	Name, Value []byte
	End         bool // the line is empty
}

// NextField reads the first line of data. ok is false while its end is missing; rest is all behind it. A CR that is the
// last byte ends no line yet, as an LF may belong to it.
func NextField(data []byte) (f Field, rest []byte, ok bool) {
	n := bytes.IndexAny(data, "\r\n")
	if n < 0 || data[n] == '\r' && n+1 == len(data) {
		return Field{}, data, false
	}
	rest = data[n+1:]
	if data[n] == '\r' {
		rest = bytes.TrimPrefix(rest, []byte("\n"))
	}
	return parse(data[:n]), rest, true
}

// Fields returns all lines of a whole stream, the last one too if it has no end.
func Fields(stream []byte) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for rest := TrimMark(stream); len(rest) > 0; {
			f, behind, isWhole := NextField(rest)
			if !isWhole { // it ends with the stream
				f = parse(bytes.TrimSuffix(rest, []byte("\r")))
				behind = nil
			}
			if !yield(f) {
				return
			}
			rest = behind
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

// Event is one event of a stream.
type Event struct {
	Type string // empty if the stream does not say
	Data []byte // its lines, with LF between them
}

// Events returns the events of a whole stream that have data.
func Events(stream []byte) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var e Event
		for f := range Fields(stream) {
			switch {
			case f.End:
				if e.Data != nil && !yield(e) {
					return
				}
				e = Event{}
			case string(f.Name) == "event":
				e.Type = string(f.Value)
			case string(f.Name) == "data" && e.Data == nil:
				e.Data = append([]byte{}, f.Value...)
			case string(f.Name) == "data":
				e.Data = append(append(e.Data, '\n'), f.Value...)
			}
		}
		if e.Data != nil {
			yield(e)
		}
	}
}

// mark is a byte order mark, which may stand at the beginning of a stream.
const mark = "\ufeff"

// TrimMark returns the beginning of a stream without a byte order mark.
func TrimMark(begin []byte) []byte { return bytes.TrimPrefix(begin, []byte(mark)) }

// IsStream reports whether a text with this beginning is an event stream.
func IsStream(begin []byte) bool {
	begin = bytes.TrimLeft(begin, " \t\r\n"+mark)
	for _, field := range []string{"data:", "event:", ":", "id:", "retry:"} {
		if bytes.HasPrefix(begin, []byte(field)) {
			return true
		}
	}
	return false
}
