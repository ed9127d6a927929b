package cli

import (
	"bytes"
	"log/slog"
	"os"
	"time"
)

// openLog begins the log, on standard error: lines for a person at a terminal, JSON everywhere else. end waits for the
// lines that are left, for a second at most.
func openLog(level slog.Level) (log *slog.Logger, end func()) {
	written := make(lines, 10_000) // more than the record of events hands over at once
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for line := range written {
			if line == nil { // from end
				return
			}
			_, _ = os.Stderr.Write(line) // one that a full disk refuses is lost
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
	if isTerminal(os.Stderr) {
		return slog.New(terminal{to: to, level: level}), end
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level})), end
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
