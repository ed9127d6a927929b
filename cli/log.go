package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
	"gopkg.in/natefinch/lumberjack.v2"

	"epitome/config"
	"epitome/console"
	"epitome/event"
)

// openLog begins the log, on standard error or in the file that the configuration names, which stays open. The caller
// closes the lines.
func openLog(conf config.Config) (*slog.Logger, *lines, error) {
	c := conf.Log
	written := newLines(os.Stderr)
	if c.File != "" {
		f, err := os.OpenFile(c.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil { // lumberjack would report it at the first line, to nobody
			return nil, nil, fmt.Errorf("cannot write a log: %w; name another file as log.file", err)
		}
		_ = f.Close()
		written = newLines(&lumberjack.Logger{Filename: c.File, MaxSize: 50, MaxBackups: 1}) // megabytes
	}
	var to io.Writer = screen{written} // which may be shown, now or later
	opts := &slog.HandlerOptions{Level: c.Level}
	switch {
	case c.Format == "text":
		return written.begin(slog.NewTextHandler(to, opts))
	case c.Format == "auto" && c.File == "" && isTerminal(os.Stderr):
		to = newTerminal(to)
	}
	return written.begin(slog.NewJSONHandler(to, opts))
}

// lines are written one after the other, on a goroutine of their own: where they are not taken, as by a pipe that
// nobody reads, they are dropped and counted, and nobody waits for them.
type lines struct {
	to      io.Writer
	log     *slog.Logger // has these lines
	queue   chan []byte
	dropped atomic.Int64
	ended   chan struct{}
}

func newLines(to io.Writer) *lines {
	const most = 10_000 // more than the record of events hands over at once
	return &lines{to: to, queue: make(chan []byte, most), ended: make(chan struct{})}
}

// begin returns the log of a handler that writes to l.
func (l *lines) begin(h slog.Handler) (*slog.Logger, *lines, error) {
	l.log = slog.New(h)
	go l.write()
	return l.log, l, nil
}

// Write never waits.
func (l *lines) Write(line []byte) (int, error) {
	select {
	case l.queue <- bytes.Clone(line):
	default:
		l.dropped.Add(1)
	}
	return len(line), nil
}

// write writes the lines until close is called. It tells how many were dropped once a line is taken again.
func (l *lines) write() {
	defer close(l.ended)
	var told int64
	hasFailed := false
	for line := range l.queue {
		if line == nil {
			return
		}
		if hasFailed { // a part of the line before may stand there
			line = append([]byte("\n"), line...)
		}
		_, err := l.to.Write(line)
		hasFailed = err != nil
		if hasFailed {
			l.dropped.Add(1)
			continue
		}
		if n := l.dropped.Load(); n > told {
			told = n
			l.log.Warn("lines of this log were dropped, as they could not be written in time", "lines", n)
		}
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

// terminal writes the log, which it gets as JSON, for a person: how to begin, that each agent is served, a line for
// each decision, and failures. A slog.Handler calls it for one line at a time.
type terminal struct {
	to      io.Writer
	greeted map[string]bool // agents whose first answered request has been told
}

func newTerminal(to io.Writer) *terminal { return &terminal{to: to, greeted: map[string]bool{}} }

// Write writes one line of the log, or nothing if nothing was decided, or the line of the exchange says it.
func (t *terminal) Write(line []byte) (int, error) {
	entry := logLine{gjson.ParseBytes(line)}
	text := entry.text("msg")
	switch text {
	case "listening":
		text = entry.welcome()
	case "exchange":
		text = t.exchange(entry)
	case event.CompactionCompleted, event.SummaryStarted, event.SummaryCompleted, event.ActionRescue:
		text = ""
	default:
		text += entry.rest()
	}
	if text == "" {
		return len(line), nil
	}
	if level := entry.text("level"); level != "INFO" {
		text = strings.ToLower(level) + ": " + text
	}
	_, err := fmt.Fprintf(t.to, "%s %s\n", entry.Get("time").Time().Local().Format("15:04:05"), text)
	return len(line), err
}

// exchange tells an agent's first answered request, what was decided, and a failure; empty for any other exchange.
func (t *terminal) exchange(line logLine) string {
	if line.text("level") != "INFO" {
		return fmt.Sprintf("%s %s: %s %s%s", line.text("method"), line.text("path"), line.text("status"),
			line.text("error"), line.text("inner"))
	}
	did, after := line.text("did"), line.tokens("tokens_after")
	mode := ""
	if line.text("mode") == event.ModeObserve {
		mode = " in mode on"
	}
	status := line.Get("status").Int()
	agent := line.text("agent")
	if agent != "" && status == 200 && !t.greeted[agent] {
		t.greeted[agent] = true
		return fmt.Sprintf("%s: first request, %s of %s tokens%s, %s", agent, after, line.tokens("window"), mode,
			cmp.Or(did, "unchanged"))
	}
	turn := line.text("turn") // empty without a conversation
	if did == "" && turn != "1" && (turn == "" || status < 400) {
		return ""
	}
	if did == "" {
		did = fmt.Sprintf("nothing to shorten; answered %d", status)
	}
	if cause := line.text("error"); cause != "" {
		did += ": " + cause
	}
	return fmt.Sprintf("turn %s: %s → %s tokens%s, %s", turn, line.tokens("tokens_before"), after, mode, did)
}

// logLine is one line of the log.
type logLine struct{ gjson.Result }

// text returns a value as a terminal may get it.
func (l logLine) text(key string) string { return console.Plain(l.Get(key).String()) }

func (l logLine) tokens(key string) string { return console.Tokens(l.Get(key).Int()) }

func (l logLine) welcome() string {
	openAI := l.text("OPENAI_BASE_URL")
	return fmt.Sprintf("epitome listens on %s and sends to %s, mode %s\n\n    export OPENAI_BASE_URL=%s\n"+
		"    export ANTHROPIC_BASE_URL=%s\n    epitome open     # the pages, in your browser\n\n"+
		"Waiting for the first request. Ctrl-C ends epitome.", strings.TrimSuffix(openAI, "/v1"), l.text("upstream"),
		l.text("mode"), openAI, l.text("ANTHROPIC_BASE_URL"))
}

// rest returns all keys and values but those that each line has.
func (l logLine) rest() string {
	var pairs strings.Builder
	l.ForEach(func(key, value gjson.Result) bool {
		name := key.String()
		if name != "time" && name != "level" && name != "msg" {
			fmt.Fprintf(&pairs, ", %s %s", name, console.Plain(value.String()))
		}
		return true
	})
	return pairs.String()
}
