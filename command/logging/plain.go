package logging

import (
	"context"
	"io"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"epitome/console/inert"
)

// plain writes lines as the standard handler for JSON does, and those of texts and numbers, which most are, without
// asking each value what it is a second time. Every exchange has a line.
type plain struct {
	slog.Handler // the standard one
	to           *locked
}

// locked is written by one at a time.
type locked struct {
	mu   sync.Mutex
	to   io.Writer
	line []byte // that was written last
}

// Write writes a line whole.
func (l *locked) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.to.Write(inert.JSON(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

func newPlain(to io.Writer, options *slog.HandlerOptions) *plain {
	l := &locked{to: to}
	return &plain{slog.NewJSONHandler(l, options), l}
}

// Handle writes a line.
func (p *plain) Handle(ctx context.Context, r slog.Record) error {
	if done, err := p.to.write(&r); done {
		return err
	}
	return p.Handler.Handle(ctx, r)
}

// write writes a line of texts and numbers; done is false if it is another one.
func (l *locked) write(r *slog.Record) (done bool, err error) {
	if r.Time.IsZero() || r.Time.Year() < 0 || r.Time.Year() > 9999 || !isPlain(r.Message) {
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	line := append(l.line[:0], `{"time":"`...)
	line = r.Time.AppendFormat(line, time.RFC3339Nano)
	line = append(append(line, `","level":"`...), r.Level.String()...)
	line = append(append(append(line, `","msg":"`...), r.Message...), '"')
	done = true
	r.Attrs(func(a slog.Attr) bool {
		line, done = appendAttr(line, a)
		return done
	})
	if l.line = line; !done {
		return false, nil
	}
	l.line = append(line, "}\n"...)
	_, err = l.to.Write(l.line)
	return true, err
}

// Numbers between these are written without an exponent.
const (
	leastPlain = 1e-6
	mostPlain  = 1e21
)

// appendAttr appends one of the plain kinds.
func appendAttr(line []byte, a slog.Attr) (longer []byte, ok bool) {
	if a.Key == "" || !isPlain(a.Key) {
		return line, false
	}
	line = append(append(append(line, `,"`...), a.Key...), `":`...)
	switch a.Value.Kind() {
	case slog.KindString:
		s := a.Value.String()
		return append(append(append(line, '"'), s...), '"'), isPlain(s)
	case slog.KindInt64:
		return strconv.AppendInt(line, a.Value.Int64(), 10), true
	case slog.KindBool:
		return strconv.AppendBool(line, a.Value.Bool()), true
	case slog.KindFloat64:
		f := a.Value.Float64()
		size := math.Abs(f)
		return strconv.AppendFloat(line, f, 'f', -1, 64), size == 0 || size >= leastPlain && size < mostPlain
	}
	return line, false
}

// isPlain reports whether a text stands in JSON as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
