package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/console"
	"epitome/event"
)

// terminal writes the log, which it gets as JSON, for a person: how to begin, that each agent is served, a line for
// each decision, and failures. A slog.Handler calls it for one line at a time.
type terminal struct {
	to     io.Writer
	greets map[string]bool // agents whose first answered request has been told
}

func newTerminal(to io.Writer) *terminal { return &terminal{to: to, greets: map[string]bool{}} }

// Write writes one line of the log, or nothing if another line says the same.
func (t *terminal) Write(line []byte) (int, error) {
	entry := logLine{gjson.ParseBytes(line)}
	text := t.describe(entry)
	if text == "" {
		return len(line), nil
	}
	if level := entry.text("level"); level != "INFO" {
		text = strings.ToLower(level) + ": " + text
	}
	_, err := fmt.Fprintf(t.to, "%s %s\n", entry.Get("time").Time().Local().Format("15:04:05"), text)
	return len(line), err
}

// describe returns a line of the log in words; empty if nothing was decided, or the line of the exchange says it.
func (t *terminal) describe(line logLine) string {
	switch message := line.text("msg"); message {
	case "listening":
		return line.welcome()
	case "exchange":
		return t.exchange(line)
	case event.CompactionCompleted, event.SummaryStarted, event.SummaryCompleted, event.ActionRescue:
		return ""
	default:
		return message + line.rest()
	}
}

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
	agent, status := line.text("agent"), line.Get("status").Int()
	if agent != "" && status == 200 && !t.greets[agent] {
		t.greets[agent] = true
		if did == "" {
			did = "unchanged"
		}
		return fmt.Sprintf("%s: first request, %s of %s tokens%s, %s", agent, after, line.tokens("window"), mode, did)
	}
	if did == "" {
		if line.text("turn") != "1" {
			return ""
		}
		did = fmt.Sprintf("nothing to shorten; answered %d", status)
	}
	return fmt.Sprintf("turn %s: %s → %s tokens%s, %s", line.text("turn"), line.tokens("tokens_before"), after, mode, did)
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
		switch name := key.String(); name {
		case "time", "level", "msg":
		default:
			fmt.Fprintf(&pairs, ", %s %s", name, console.Plain(value.String()))
		}
		return true
	})
	return pairs.String()
}
