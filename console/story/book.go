package story

import (
	"fmt"
	"log/slog"
	"time"

	"epitome/event"
)

// Config says what is kept, and where.
type Config struct {
	Version string        // of the program
	Folder  string        // of files; empty: there are none, and figures end with the process
	Keep    time.Duration // how long figures and files are kept
	Quota   int64         // bytes of all files together
}

// Plugs are what a Book needs of the program. Those that may be nil say so.
type Plugs struct {
	Log  *slog.Logger
	Now  func() time.Time // its zone is that of hours and days
	Mode func() string
	// State is what a reader should know of the program as it is now. nil: nothing.
	State func() []string
	Sinks event.Sinks // hear of each event when it is complete, one after the other
	// Follow hears of it likewise. It must neither wait nor change it. nil: nobody does.
	Follow func(Entry)
	// Prices says where amounts come from.
	Prices func() Prices
	// Bill fills the Bill of an exchange that is complete else. pause is how long before it the last request of its
	// conversation was sent that was answered; negative if there was none. nil: there are no prices.
	Bill func(e *event.Exchange, pause time.Duration)
	// Charge is what the request for a summary cost. nil: there are no prices.
	Charge func(s *event.Summary) event.Charge
	// Life is how long the provider's cache keeps what e had in it, after its last use. nil: five minutes.
	Life func(e *event.Exchange) time.Duration
}

// Book keeps events and answers questions about them. Its methods may be called from any goroutine. Make one with New.
type Book struct {
	conf   Config
	plugs  Plugs
	past   *past
	writer *writer
}

var _ event.Sink = (*Book)(nil)

// New returns a Book that writes until it is closed.
func New(c Config, p Plugs) *Book {
	b := &Book{conf: c, plugs: p, past: newPast(p.Now().Location())}
	b.writer = newWriter(c, p, b.past)
	go b.writer.write()
	return b
}

// RecordExchange hands an exchange to the writer.
func (b *Book) RecordExchange(e event.Exchange) { b.writer.send(Entry{Exchange: &e}) }

// RecordCompaction hands a step of a compaction to the writer, and sets its time.
func (b *Book) RecordCompaction(e event.Compaction) {
	if e.Time.IsZero() {
		e.Time = b.plugs.Now()
	}
	b.writer.send(Entry{Compaction: &e})
}

// RecordWarning hands a warning to the writer, and sets its time.
func (b *Book) RecordWarning(e event.Warning) {
	if e.Time.IsZero() {
		e.Time = b.plugs.Now()
	}
	b.writer.send(Entry{Warning: &e})
}

// RecordSummary hands a step of a summary to the writer.
func (b *Book) RecordSummary(e event.Summary) { b.writer.send(Entry{Summary: &e}) }

// CountDropped is how many events were lost because the writer could not keep up.
func (b *Book) CountDropped() uint64 { return b.writer.dropped.Load() }

// Settle waits until all that was recorded before is folded, but not for long.
func (b *Book) Settle() { b.writer.settle() }

// Close writes what was recorded, and ends the writer.
func (b *Book) Close() { b.writer.close() }

// notes are what a reader of figures should know.
func (b *Book) notes() (notes []string) {
	if b.plugs.State != nil {
		notes = b.plugs.State()
	}
	if n := b.CountDropped(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d events were dropped, because there were too many at once: "+
			"figures since the start of this process lack them", n))
	}
	return append(notes, b.writer.journal.Notes()...)
}
