// Package story keeps the events of the program: it numbers and prices them, writes them to files as lines of JSON,
// sums them up in memory, and answers questions about them.
//
// Recording an event never waits. Each amount is rounded once, when its event is written, so all sums of the same
// events agree, also after a restart. Memory and files are bounded; a full disk or a damaged file costs figures and
// nothing else. Events hold no text of a body but the name of the model and the title of a conversation.
package story

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"epitome/event"
)

// Config is what a Book needs of the program. All functions must be set.
type Config struct {
	Version string        // of the program
	Folder  string        // of the files; empty: there are none
	Keep    time.Duration // how long figures and files are kept
	Quota   int64         // bytes of all files
	Log     *slog.Logger
	Sinks   []event.Sink // get each event when it is complete, one after the other

	Now    func() time.Time // in the zone of hours and days
	Mode   func() string
	State  func() []string // notes for readers of figures
	Prices func() Prices
	// Bill sets the Bill of an exchange. pause is the time since the last answered request of its conversation;
	// negative if there was none.
	Bill   func(e *event.Exchange, pause time.Duration)
	Charge func(s *event.Summary) event.Charge // returns the cost of a request for a summary
	Life   func() time.Duration                // returns how long providers' caches keep a request
}

// What is kept in memory at most.
const (
	mostQueued = 8192  // events that wait to be summed up
	mostRecent = 5_000 // events
	mostTalks  = 2_000 // conversations
	mostModels = 50    // that have sums of their own; clients choose the names
)

// Book keeps events. It is an event.Sink, and may be used by several goroutines.
type Book struct {
	Config
	loaded chan struct{} // closed when the events of earlier processes are in the sums
	stop   chan struct{}
	ended  chan struct{}

	closing sync.Once

	queueing sync.Mutex
	queue    []Entry // not summed up yet
	dropped  int     // for lack of room in the queue

	mu     sync.Mutex // guards what follows
	files  files
	seq    uint64    // of the newest event
	since  time.Time // of the oldest one
	notes  []string  // about files that could not be read
	totals Sums      // of exchanges since the start
	recent []Entry   // the newest events
	cells  map[cell]*Sums
	models map[string]bool
	talks  map[string]*talk
}

var _ event.Sink = (*Book)(nil)

// New returns a Book, which the caller closes. It reads the events of earlier processes in the background.
func New(c Config) *Book {
	b := &Book{
		Config: c, loaded: make(chan struct{}), stop: make(chan struct{}), ended: make(chan struct{}),
		files: files{folder: c.Folder, keep: c.Keep, quota: c.Quota, log: c.Log},
		cells: map[cell]*Sums{}, models: map[string]bool{}, talks: map[string]*talk{},
	}
	go b.run()
	return b
}

// RecordExchange keeps an exchange that has ended.
func (b *Book) RecordExchange(e event.Exchange) { b.enqueue(Entry{Exchange: &e}) }

// RecordCompaction keeps a compaction, and sets its time.
func (b *Book) RecordCompaction(e event.Compaction) {
	e.Time = cmp.Or(e.Time, b.Now())
	b.enqueue(Entry{Compaction: &e})
}

// RecordWarning keeps a warning, and sets its time.
func (b *Book) RecordWarning(e event.Warning) {
	e.Time = cmp.Or(e.Time, b.Now())
	b.enqueue(Entry{Warning: &e})
}

// RecordSummary keeps a step of a request for a summary.
func (b *Book) RecordSummary(e event.Summary) { b.enqueue(Entry{Summary: &e}) }

// enqueue wakes nobody: that would cost an exchange more than everything that is done with its event later.
func (b *Book) enqueue(n Entry) {
	b.queueing.Lock()
	defer b.queueing.Unlock()
	if len(b.queue) >= mostQueued {
		b.dropped++
		return
	}
	b.queue = append(b.queue, n)
}

// Settle processes all events that were recorded before.
func (b *Book) Settle() {
	b.lock()
	b.mu.Unlock()
}

// lock locks b.mu, with all recorded events in the sums; while older events are being read, without the new ones.
func (b *Book) lock() {
	select {
	case <-b.loaded:
	case <-time.After(2 * time.Second): // figures without the newest events are better than none
		b.mu.Lock()
		return
	}
	b.mu.Lock()
	b.queueing.Lock()
	all := b.queue
	b.queue = nil
	b.queueing.Unlock()
	for _, n := range all {
		b.take(n)
	}
}

// Totals returns the sums of the exchanges since the start.
func (b *Book) Totals() (sums Sums) {
	b.lock()
	defer b.mu.Unlock()
	sums.add(&b.totals)
	return sums
}

// Close writes all events, and ends the Book.
func (b *Book) Close() {
	b.closing.Do(func() { close(b.stop) })
	<-b.ended
}

// run reads the files, and then processes what is recorded.
func (b *Book) run() {
	defer close(b.ended)
	b.load()
	tick, tidy := time.NewTicker(100*time.Millisecond), time.NewTicker(10*time.Minute)
	defer tick.Stop()
	defer tidy.Stop()
	for {
		select {
		case <-tick.C:
			b.lock()
			b.files.flush(b.Now())
			b.mu.Unlock()
		case <-tidy.C:
			b.expire()
		case <-b.stop:
			b.lock()
			defer b.mu.Unlock()
			b.files.flush(b.Now())
			b.files.close()
			return
		}
	}
}

// load sums up the events of earlier processes.
func (b *Book) load() {
	b.expire()
	unreadable := 0
	err := b.files.read(func(line []byte) {
		var n Entry
		if err := json.Unmarshal(line, &n); err != nil || n.Common().Seq == nil {
			unreadable++
			return
		}
		if n.Exchange != nil {
			compact(n.Exchange)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.add(n)
	})
	if unreadable > 0 {
		err = errors.Join(err, fmt.Errorf("%d lines of events cannot be read", unreadable))
	}
	if err != nil {
		b.Log.Warn("figures lack events", "reason", err.Error())
		b.mu.Lock()
		b.notes = append(b.notes, err.Error())
		b.mu.Unlock()
	}
	close(b.loaded)
	b.expire()
}

// take completes an event, sums it up and passes it on. A panic costs that event. Requests from strangers, of which
// whoever reaches the port can send any number, are only passed on.
func (b *Book) take(n Entry) {
	defer func() {
		if r := recover(); r != nil {
			b.Log.Error("panic while processing an event", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	if n.Exchange == nil || !n.Exchange.IsStranger() {
		b.complete(n)
		b.files.append(n)
		b.add(n)
		if n.Exchange != nil {
			b.totals.addExchange(n.Exchange, false)
		}
	}
	for _, sink := range b.Sinks {
		switch {
		case n.Exchange != nil:
			sink.RecordExchange(*n.Exchange)
		case n.Compaction != nil:
			sink.RecordCompaction(*n.Compaction)
		case n.Warning != nil:
			sink.RecordWarning(*n.Warning)
		case n.Summary != nil:
			sink.RecordSummary(*n.Summary)
		}
	}
}

// complete sets what is known only now: the number, the turn, the cause of a cache miss, and the cost.
func (b *Book) complete(n Entry) {
	*n.Common().Seq = b.seq + 1
	if s := n.Summary; s != nil && s.Cost.Requests > 0 {
		s.Own = b.Charge(s)
	}
	e := n.Exchange
	if e == nil {
		return
	}
	compact(e)
	var before *prior
	if t := b.talks[e.Conversation]; t != nil {
		before = t.prior
		e.Turn = t.Turns + 1
	} else if e.Conversation != "" {
		e.Turn = 1
	}
	if t := b.talks[e.Parent]; before == nil && t != nil {
		before = t.prior // the beginning that they share may be cached
	}
	if isAnswered(e) && e.ShapeTime > 0 {
		e.Miss = missOf(e, before, b.Life())
	}
	pause := time.Duration(-1)
	if before != nil {
		pause = max(0, e.Start.Sub(before.start))
	}
	b.Bill(e, pause)
}

// add adds a complete event to the recent ones and to the sums.
func (b *Book) add(n Entry) {
	c := n.Common()
	b.seq = max(b.seq, *c.Seq)
	if b.since.IsZero() || c.End.Before(b.since) {
		b.since = c.End
	}
	b.recent = append(b.recent, n)
	if over := len(b.recent) - mostRecent; over > mostRecent/10 {
		b.recent = slices.Clone(b.recent[over:])
	}
	t := b.talks[c.Conversation]
	if t == nil && c.Conversation != "" {
		t = &talk{Conversation: Conversation{ID: c.Conversation, Last: c.End}}
		b.talks[c.Conversation] = t
	}
	switch e, s := n.Exchange, n.Summary; {
	case e != nil:
		var died bool
		if t != nil {
			died = t.add(e, c.End)
			t.Sums.addExchange(e, died)
		}
		b.sumsOf(c.End, e.Upstream, e.Model, e.Client, t).addExchange(e, died)
	case s != nil && (s.Own.Nano != 0 || s.IsUncharged()):
		var client string
		if t != nil {
			t.Sums.addOwn(s)
			client = t.Client
		}
		b.sumsOf(c.End, s.Upstream, s.Model, client, t).addOwn(s)
	}
	if len(b.talks) > mostTalks+mostTalks/10 {
		b.forgetTalks()
	}
}

// forgetTalks forgets the conversations that were used longest ago. Their figures stay, without their names.
func (b *Book) forgetTalks() {
	all := slices.SortedFunc(maps.Values(b.talks), func(x, y *talk) int { return x.Last.Compare(y.Last) })
	for _, t := range all[:len(all)-mostTalks] {
		delete(b.talks, t.ID)
	}
	b.mergeCells()
}

// expire forgets what is older than it is kept, in memory and on disk.
func (b *Book) expire() {
	now := b.Now()
	oldest := now.Add(-b.Keep)
	firstDay := b.dayOf(oldest).Unix()
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.talks, func(_ string, t *talk) bool { return t.Last.Before(oldest) })
	maps.DeleteFunc(b.cells, func(at cell, _ *Sums) bool { return at.day < firstDay })
	if !b.since.IsZero() && b.since.Before(oldest) {
		b.since = oldest
	}
	b.mergeCells()
	b.files.tidy(now)
}
