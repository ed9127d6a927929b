package sessions

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/tidwall/gjson"
)

// value is a piece of a log. Its texts share the memory of their line: what is kept of them is cloned.
type value = gjson.Result

// parsed reads a line that is one JSON object.
func parsed(line []byte) (value, bool) {
	if len(line) == 0 || line[0] != '{' || !gjson.ValidBytes(line) {
		return value{}, false
	}
	return gjson.ParseBytes(line), true
}

// errLong is the error of a line that is too long; the one after it can be read.
var errLong = errors.New("too long")

// lines reads a log line by line. Where the first line is no JSON but the whole is, the whole is one line.
type lines struct {
	from   *bufio.Reader
	most   int // bytes of a line
	number int // of the line read last, from 1
	begun  bool
	over   bool
}

func newLines(from io.Reader, most int) *lines {
	return &lines{from: bufio.NewReaderSize(from, 64<<10), most: most}
}

// stop makes the next line the end.
func (l *lines) stop() { l.over = true }

// next returns the next line that is not blank, without the white space around it. It holds until the one after it.
func (l *lines) next() ([]byte, error) {
	if l.over {
		return nil, io.EOF
	}
	if !l.begun {
		l.begun = true
		return l.first()
	}
	for {
		line, err := l.readLine()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// first returns the first line, or the whole document.
func (l *lines) first() ([]byte, error) {
	if mark, _ := l.from.Peek(3); string(mark) == "\ufeff" {
		_, _ = l.from.Discard(3) // they are there
	}
	line, err := l.next()
	if err != nil || gjson.ValidBytes(line) {
		return line, err
	}
	rest, err := io.ReadAll(io.LimitReader(l.from, int64(max(0, l.most-len(line)))))
	if err != nil {
		return nil, err
	}
	if whole := append(append(bytes.Clone(line), '\n'), rest...); gjson.ValidBytes(whole) {
		return bytes.TrimSpace(whole), nil
	}
	l.from = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(rest), l.from), 64<<10)
	return line, nil
}

// readLine returns the next line as it stands.
func (l *lines) readLine() ([]byte, error) {
	l.number++
	line, err := l.from.ReadSlice('\n')
	if err == nil || err == io.EOF && len(line) > 0 {
		return line, nil
	}
	whole := bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		line, err = l.from.ReadSlice('\n')
		if len(whole) <= l.most {
			whole = append(whole, line...)
		}
	}
	switch {
	case len(whole) > l.most:
		return nil, errLong
	case err == io.EOF && len(whole) > 0:
		return whole, nil
	}
	return whole, err
}
