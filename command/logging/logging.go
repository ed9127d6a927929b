// Package logging is where log lines go: to standard error, or to a file that stays within a bound.
//
// It promises that a line is written whole or not at all, and that the file and the one before it together stay within
// the quota. What lines say is for others to know.
package logging

import (
	"fmt"
	"io"
	"log/slog"
	"os"
)

// Options is how a log is written.
type Options struct {
	Level  slog.Level // less is not written
	Text   bool       // for people; else JSON
	File   string     // empty is standard error
	Quota  int64      // bytes of File and the one before it
	Errors io.Writer  // standard error
}

// Open begins a log. Whoever has it closes the second result at the end.
func Open(o Options) (*slog.Logger, io.Closer, error) {
	var to io.Writer = o.Errors
	var end io.Closer = io.NopCloser(nil)
	if o.File != "" {
		f, err := openFile(o.File, o.Quota)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot write a log: %w; name another file as log.file", err)
		}
		to, end = f, f
	}
	handling := &slog.HandlerOptions{Level: o.Level}
	if o.Text {
		return slog.New(slog.NewTextHandler(to, handling)), end, nil
	}
	return slog.New(newPlain(to, handling)), end, nil
}

// IsTerminal reports whether somebody reads along.
func IsTerminal(f *os.File) bool {
	s, err := f.Stat()
	return err == nil && s.Mode()&os.ModeCharDevice != 0
}
