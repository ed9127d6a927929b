package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"epitome/console"
)

// terminal writes the log for a person: how to begin, a line for each decision, and failures, as the text "log" in
// texts.tmpl says.
type terminal struct {
	to    io.Writer // gets one line at a time
	level slog.Level
	attrs []slog.Attr
}

func (t terminal) Enabled(_ context.Context, level slog.Level) bool { return level >= t.level }

func (t terminal) WithAttrs(attrs []slog.Attr) slog.Handler {
	t.attrs = slices.Concat(t.attrs, attrs)
	return t
}

// WithGroup ignores the name: the program has no groups.
func (t terminal) WithGroup(string) slog.Handler { return t }

// Handle writes a record, or nothing if its text is empty.
func (t terminal) Handle(_ context.Context, r slog.Record) error {
	values := map[string]string{} // by key, as a terminal may get them
	all := console.Plain(r.Message)
	add := func(a slog.Attr) bool {
		values[a.Key] = console.Plain(a.Value.String())
		all += ", " + a.Key + " " + values[a.Key]
		return true
	}
	for _, a := range t.attrs {
		add(a)
	}
	r.Attrs(add)
	var text strings.Builder
	err := texts().ExecuteTemplate(&text, "log", map[string]any{
		"Message": r.Message, "Level": strings.ToLower(r.Level.String()), "Values": values, "All": all,
	})
	if err != nil || text.Len() == 0 {
		return err
	}
	_, err = fmt.Fprintf(t.to, "%s %s\n", r.Time.Local().Format("15:04:05"), &text)
	return err
}
