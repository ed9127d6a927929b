package logs

import (
	"log/slog"
	"time"

	"epitome/event"
)

// fields are those of a log line. What there is nothing to say of is left out.
type fields []slog.Attr

func (f *fields) text(key, value string) {
	if value != "" {
		*f = append(*f, slog.String(key, value))
	}
}

func (f *fields) number(key string, value int) {
	if value > 0 {
		*f = append(*f, slog.Int(key, value))
	}
}

func (f *fields) yes(key string, value bool) {
	if value {
		*f = append(*f, slog.Bool(key, true))
	}
}

// cost adds what a model's words took.
func (f *fields) cost(c event.Cost) {
	f.number("requests", c.Requests)
	f.number("input_tokens", c.InputTokens)
	f.number("cached_tokens", c.CachedTokens)
	f.number("output_tokens", c.OutputTokens)
	f.number("untold", c.Untold)
	if c.Took > 0 {
		*f = append(*f, slog.Float64("took_ms", milliseconds(c.Took)))
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
