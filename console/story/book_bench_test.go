package story

import (
	"io"
	"log/slog"
	"testing"
	"time"
)

// BenchmarkRecord is what an exchange waits for.
func BenchmarkRecord(b *testing.B) {
	now := &clock{}
	now.Store(noon)
	book := New(Config{Keep: time.Hour}, plugged(now))
	defer book.Close()
	e := talking("c1", 0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		book.RecordExchange(e)
		if i%1000 == 999 {
			b.StopTimer()
			book.Settle()
			b.StartTimer()
		}
	}
}

// BenchmarkWrite is what the writer does with an exchange, sinks left out.
func BenchmarkWrite(b *testing.B) {
	now := &clock{}
	now.Store(noon)
	p := plugged(now)
	p.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	book := New(Config{Keep: time.Hour}, p)
	book.Close()
	b.ReportAllocs()
	for b.Loop() {
		e := talking("c1", 0)
		book.writer.take(item{Entry: Entry{Exchange: &e}})
	}
}
