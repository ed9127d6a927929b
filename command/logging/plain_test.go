package logging

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"

	"epitome/console/inert"
)

// The standard handler is the oracle: no line may differ from its by a byte, but for what a terminal obeys.
func TestLinesAreThoseOfTheStandardHandler(t *testing.T) {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	at := time.Date(2026, 11, 21, 22, 30, 1, 120_000_000, time.FixedZone("", 3600))
	f := func(at time.Time, level slog.Level, message string, attrs ...slog.Attr) {
		t.Helper()
		var got, want bytes.Buffer
		r := slog.NewRecord(at, level, message, 0)
		r.AddAttrs(attrs...)
		_ = slog.NewJSONHandler(&want, options).Handle(context.Background(), r)
		line := string(inert.JSON(want.Bytes()))
		if err := newPlain(&got, options).Handle(context.Background(), r); err != nil || got.String() != line {
			t.Errorf("error %v, the line is\n%swant\n%s", err, got.String(), line)
		}
	}
	f(at, slog.LevelInfo, "exchange")
	f(at.UTC(), slog.LevelWarn+1, "of an odd level")
	f(time.Time{}, slog.LevelError, "without a time")
	f(time.Date(12_000, 1, 1, 0, 0, 0, 0, time.UTC), slog.LevelError, "of a time that is far")
	for _, s := range []string{"", "a b", `"\`, "<&>", "\x00\x1f\x7f", "a\u009b31m", "é\u2028", "bad \xff"} {
		f(at, slog.LevelInfo, s, slog.String("k", s))
		f(at, slog.LevelInfo, "m", slog.String("key "+s, "v"), slog.Int("behind", 1))
	}
	numbers := []float64{0, math.Copysign(0, -1), 1, .1, 300, 1.234, 1e-6, 9e-7, -2.5, 1e20, 1e21, math.NaN()}
	for _, n := range numbers {
		f(at, slog.LevelInfo, "m", slog.Float64("n", n), slog.Int64("i", int64(-7)), slog.Bool("b", true))
	}
	f(at, slog.LevelInfo, "m", slog.Attr{}, slog.String("", "empty key"), slog.Int("i", 1))
	f(at, slog.LevelInfo, "m", slog.Any("error", errors.New("why")), slog.Duration("d", time.Second),
		slog.Time("t", at), slog.Group("g", slog.Int("i", 1)), slog.Any("list", []string{"a"}))
}

func TestLessThanTheLevelIsNotWritten(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(newPlain(&text, &slog.HandlerOptions{Level: slog.LevelWarn}))
	log.Info("left out")
	log.With("who", "w").Warn("told")
	log.Warn("told too", "n", 1)
	if n := bytes.Count(text.Bytes(), []byte("\n")); n != 2 {
		t.Errorf("there are %d lines, want 2: %s", n, text.String())
	}
}

// BenchmarkLine is what the line of an exchange costs.
func BenchmarkLine(b *testing.B) {
	var text bytes.Buffer
	h := newPlain(&text, nil)
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "exchange", 0)
	r.AddAttrs(slog.String("id", "mhp3q1-1"), slog.String("method", "POST"), slog.String("path", "/v1/chat/completions"),
		slog.Int("status", 200), slog.Int64("in", 2048), slog.Float64("first_byte_ms", .061), slog.Bool("decided", true))
	b.ReportAllocs()
	for b.Loop() {
		text.Reset()
		_ = h.Handle(context.Background(), r)
	}
}
