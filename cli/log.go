package cli

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"epitome/config"
)

// openLog begins the log, on standard error or in the file that the configuration names, which stays open. The caller
// closes it.
func openLog(conf config.Config) (*lines, error) {
	c := conf.Log
	var out io.Writer = os.Stderr
	if c.File != "" {
		f, err := os.OpenFile(c.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil { // lumberjack would report it at the first line, to nobody
			return nil, fmt.Errorf("cannot write a log: %w; name another file as log.file", err)
		}
		_ = f.Close()
		out = &lumberjack.Logger{Filename: c.File, MaxSize: 50, MaxBackups: 1} // megabytes
	}
	written := newLines(out)
	to := screen{written} // which may be shown, now or later
	opts := &slog.HandlerOptions{Level: c.Level}
	switch {
	case c.Format == "text":
		written.log = slog.New(slog.NewTextHandler(to, opts))
	case c.Format == "auto" && c.File == "" && isTerminal(os.Stderr):
		written.log = slog.New(terminal{to: to, level: c.Level, near: new(sync.Map)})
	default:
		written.log = slog.New(slog.NewJSONHandler(to, opts))
	}
	return written, nil
}

// lines are written one after the other, on a goroutine of their own: where they are not taken, as by a pipe that
// nobody reads, they are dropped, and nobody waits for them.
type lines struct {
	to    io.Writer
	log   *slog.Logger // of these lines
	queue chan []byte
	ended chan struct{}
}

func newLines(to io.Writer) *lines {
	const most = 10_000 // more than the record of events hands over at once
	l := &lines{to: to, queue: make(chan []byte, most), ended: make(chan struct{})}
	go l.write()
	return l
}

// Write never waits.
func (l *lines) Write(line []byte) (int, error) {
	select {
	case l.queue <- bytes.Clone(line):
	default:
	}
	return len(line), nil
}

// write writes the lines until close is called.
func (l *lines) write() {
	defer close(l.ended)
	for line := range l.queue {
		if line == nil {
			return
		}
		_, _ = l.to.Write(line) // one that a full disk refuses is lost
	}
}

// close waits for the lines that are left, for a second at most.
func (l *lines) close() {
	late := time.After(time.Second)
	select {
	case l.queue <- nil:
	case <-late:
		return
	}
	select {
	case <-l.ended:
	case <-late:
	}
}
