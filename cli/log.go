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

// openLog begins the log, on standard error or in the file that the configuration names, which stays open. end waits
// for the lines that are left, for a second at most.
func openLog(conf config.Config) (log *slog.Logger, end func(), err error) {
	c := conf.Log
	var out io.Writer = os.Stderr
	if c.File != "" {
		f, err := os.OpenFile(c.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil { // lumberjack would report it at the first line, to nobody
			return nil, nil, fmt.Errorf("cannot write a log: %w; name another file as log.file", err)
		}
		_ = f.Close()
		out = &lumberjack.Logger{Filename: c.File, MaxSize: 50, MaxBackups: 1} // megabytes
	}
	written := make(lines, 10_000) // more than the record of events hands over at once
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for line := range written {
			if line == nil { // from end
				return
			}
			_, _ = out.Write(line) // one that a full disk refuses is lost
		}
	}()
	end = func() {
		go func() { written <- nil }() // there may be no room for it
		select {
		case <-ended:
		case <-time.After(time.Second):
		}
	}
	to := screen{written} // which may be shown, now or later
	opts := &slog.HandlerOptions{Level: c.Level}
	switch {
	case c.Format == "text":
		return slog.New(slog.NewTextHandler(to, opts)), end, nil
	case c.Format == "auto" && c.File == "" && isTerminal(os.Stderr):
		return slog.New(terminal{to: to, level: c.Level, near: new(sync.Map)}), end, nil
	}
	return slog.New(slog.NewJSONHandler(to, opts)), end, nil
}

// lines are written one after the other, by one goroutine: where they are not taken, as by a pipe that nobody reads,
// they are dropped, and nobody waits for them.
type lines chan []byte

// Write never waits.
func (l lines) Write(line []byte) (int, error) {
	select {
	case l <- bytes.Clone(line):
	default:
	}
	return len(line), nil
}
