package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"epitome/console"
	"epitome/event"
)

// terminal writes the log for a person: how to begin, that each agent is served, a line for each decision, and failures.
type terminal struct {
	to      io.Writer // gets one line at a time
	level   slog.Level
	attrs   []slog.Attr
	greeted *sync.Map // agents whose first answered request has been told, and conversations that are near their end
}

func newTerminal(to io.Writer, level slog.Level) slog.Handler {
	return terminal{to: to, level: level, greeted: new(sync.Map)}
}

func (t terminal) Enabled(_ context.Context, level slog.Level) bool { return level >= t.level }

func (t terminal) WithAttrs(attrs []slog.Attr) slog.Handler {
	t.attrs = slices.Concat(t.attrs, attrs)
	return t
}

// WithGroup ignores the name: the program has no groups.
func (t terminal) WithGroup(string) slog.Handler { return t }

// Handle writes a record, or nothing if nothing was decided, or the line of the exchange says it.
func (t terminal) Handle(_ context.Context, r slog.Record) error {
	values := values{}
	text := console.Plain(r.Message)
	show := func(a slog.Attr) bool {
		values[a.Key] = console.Plain(a.Value.String())
		text += ", " + a.Key + " " + values[a.Key]
		return true
	}
	for _, a := range t.attrs {
		show(a)
	}
	r.Attrs(show)
	level := r.Level
	switch r.Message {
	case "context_window_warning":
		if values["reason"] == event.ReasonNear || values["reason"] == event.ReasonThreshold {
			text, level = t.near(values), slog.LevelInfo
		}
	case "listening":
		text = values.welcome()
	case "exchange":
		text = t.exchange(values, r.Level)
	case event.CompactionCompleted, event.SummaryStarted, event.SummaryCompleted, event.ActionRescue:
		text = ""
	}
	if text == "" {
		return nil
	}
	if level != slog.LevelInfo {
		text = strings.ToLower(level.String()) + ": " + text
	}
	_, err := fmt.Fprintf(t.to, "%s %s\n", r.Time.Local().Format("15:04:05"), text)
	return err
}

// near tells once of each conversation that its window fills.
func (t terminal) near(v values) string {
	_, known := t.greeted.LoadOrStore("near "+v["conversation"], true)
	if known {
		return ""
	}
	return fmt.Sprintf("%s%s of %s tokens, soon to be shortened", v.who(), v.tokens("tokens"), v.tokens("window"))
}

// exchange tells an agent's first answered request, what was decided, and a failure; empty for any other exchange.
func (t terminal) exchange(v values, level slog.Level) string {
	if level != slog.LevelInfo {
		return fmt.Sprintf("%s %s: %s %s%s", v["method"], v["path"], v["status"], v["error"], v["inner"])
	}
	did, after := v["did"], v.tokens("tokens_after")
	mode := ""
	if v["mode"] == event.ModeObserve {
		mode = " in mode on"
	}
	agent := v["agent"]
	if agent != "" && v["status"] == "200" {
		_, known := t.greeted.LoadOrStore(agent, true)
		if !known {
			return fmt.Sprintf("%s: first request, %s of %s tokens%s, %s", agent, after, v.tokens("window"), mode,
				cmp.Or(did, "unchanged"))
		}
	}
	turn := v["turn"] // empty without a conversation
	if did == "" && turn != "1" && (turn == "" || v["status"] < "400") {
		return ""
	}
	if did == "" {
		did = "nothing to shorten; answered " + v["status"]
	}
	if cause := v["error"]; cause != "" {
		did += ": " + cause
	}
	return fmt.Sprintf("%sturn %s: %s → %s tokens%s, %s", v.who(), turn, v.tokens("tokens_before"), after, mode, did)
}

// values are those of one line of the log by key, as a terminal may get them.
type values map[string]string

func (v values) tokens(key string) string {
	n, _ := strconv.ParseInt(v[key], 10, 64)
	return console.Tokens(n)
}

// who names agent and conversation at the beginning of a line; it is empty for other requests.
func (v values) who() string {
	id := v["conversation"]
	who := strings.TrimSpace(v["agent"] + " " + id[:min(len(id), 6)])
	if who == "" {
		return ""
	}
	return who + ", "
}

func (v values) welcome() string {
	openAI := v["OPENAI_BASE_URL"]
	return fmt.Sprintf("epitome listens on %s and sends to %s, mode %s\n\n    export OPENAI_BASE_URL=%s\n"+
		"    export ANTHROPIC_BASE_URL=%s\n\nThe pages, in your browser:\n\n    %s\n\n"+
		"Waiting for the first request. Ctrl-C ends epitome.", strings.TrimSuffix(openAI, "/v1"), v["upstream"],
		v["mode"], openAI, v["ANTHROPIC_BASE_URL"], v["pages"])
}
