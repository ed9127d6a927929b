// Package journal keeps events: in files, as sums, and by conversation. A Book has all of them.
package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"epitome/event"
)

// Config is what a Book needs of the program.
type Config struct {
	Folder    string        // of the files; empty: there are none
	Keep      time.Duration // how long figures and files are kept
	Quota     int64         // bytes of all files
	Log       *slog.Logger
	Biller    *event.Biller
	Observers []func(Entry)    // get each event when it is complete, one after the other
	Now       func() time.Time // in the zone of days
}

// Entry is an event of one kind: one of its fields is set. As JSON it is a line of a file.
type Entry struct {
	Exchange   *event.Exchange  `json:"exchange,omitempty"`
	Summary    *event.Summary   `json:"summary,omitempty"`
	Compaction *event.Compacted `json:"compaction,omitempty"`
}

// Seq returns where the event has its number; nil if the entry is empty.
func (n Entry) Seq() *uint64 {
	switch {
	case n.Exchange != nil:
		return &n.Exchange.Seq
	case n.Summary != nil:
		return &n.Summary.Seq
	case n.Compaction != nil:
		return &n.Compaction.Seq
	}
	return nil
}

// What is kept in memory at most.
const (
	mostQueued        = 8192  // events that wait to be summed up
	mostRecent        = 5_000 // events
	mostConversations = 2_000 // conversations
	mostModels        = 50    // that have sums of their own; clients choose the names
	mostAgents        = 20    // likewise
	mostKept          = 50    // lines of a conversation that begin with "keep:"
)

// gather is how often events are processed and written: to wake the Book for each one would cost an exchange more than
// everything that is done with its event later.
const gather = 250 * time.Millisecond

// Book keeps the events of the program: it numbers and prices them, writes them to files as lines of JSON, sums them up
// in memory, and answers questions about them. Its methods may be called from any goroutine.
//
// Recording an event never waits. Each amount is rounded once, when its event is written, so all sums of the same
// events agree, also after a restart. Memory and files are bounded; a full disk or a damaged file costs figures and
// nothing else.
type Book struct {
	Config
	loaded chan struct{} // closed when the events of earlier processes are in the sums
	stop   context.CancelFunc
	ended  chan struct{}

	queue   chan Entry   // not summed up yet
	dropped atomic.Int64 // events, for lack of room in the queue

	mu            sync.Mutex // guards what follows
	files         files
	unwritten     error   // why events were not written to disk the last time; nil if they were
	seq           uint64  // of the newest event
	damaged       bool    // some events on disk could not be read
	recent        []Entry // the newest events
	sums          map[cell]*Sums
	models        map[string]bool // that have sums of their own
	agents        map[string]bool // likewise
	conversations map[string]*conversation
}

// Open returns a Book, which the caller closes. It reads the events of earlier processes in the background.
func Open(c Config) *Book {
	ctx, stop := context.WithCancel(context.Background())
	b := &Book{
		Config: c, loaded: make(chan struct{}), stop: stop, ended: make(chan struct{}),
		queue: make(chan Entry, mostQueued), files: files{folder: c.Folder, quota: c.Quota},
		sums: map[cell]*Sums{}, models: map[string]bool{}, agents: map[string]bool{},
		conversations: map[string]*conversation{},
	}
	go b.run(ctx)
	return b
}

// RecordExchange keeps an exchange that has ended. It belongs to the Book from then on.
func (b *Book) RecordExchange(e *event.Exchange) { b.enqueue(Entry{Exchange: e}) }

// RecordSummary keeps a step of a request for a summary.
func (b *Book) RecordSummary(s event.Summary) { b.enqueue(Entry{Summary: &s}) }

// enqueue never waits.
func (b *Book) enqueue(n Entry) {
	select {
	case b.queue <- n:
	default:
		b.dropped.Add(1)
	}
}

// Loaded reports whether the events of earlier processes are in the sums. Until then, all questions about figures wait.
func (b *Book) Loaded() bool {
	select {
	case <-b.loaded:
		return true
	default:
		return false
	}
}

// Settle processes all events that were recorded before.
func (b *Book) Settle() {
	b.lock()
	b.mu.Unlock()
}

// lock locks b.mu, with all recorded events in the sums.
func (b *Book) lock() {
	<-b.loaded
	b.mu.Lock()
	for range len(b.queue) {
		b.take(<-b.queue)
	}
}

// Close writes all events, and ends the Book.
func (b *Book) Close() {
	b.stop()
	<-b.ended
}

// run reads the files, and then processes what is recorded until ctx ends.
func (b *Book) run(ctx context.Context) {
	defer close(b.ended)
	b.load()
	close(b.loaded)
	look, tidy := time.NewTicker(gather), time.NewTicker(10*time.Minute)
	defer look.Stop()
	defer tidy.Stop()
	for ctx.Err() == nil {
		b.flush()
		select {
		case <-look.C:
		case <-tidy.C:
			b.expire()
		case <-ctx.Done():
		}
	}
	b.flush()
}

// flush processes what is recorded and writes it to disk. It logs when that begins to fail.
func (b *Book) flush() {
	b.lock()
	defer b.mu.Unlock()
	err := b.files.flush(b.Now())
	if err != nil && b.unwritten == nil {
		b.Log.Warn("cannot write events to disk; they are kept in memory", "error", err.Error())
	}
	b.unwritten = err
}

// load sums up the events of earlier processes.
func (b *Book) load() {
	b.expire() // old files need not be read
	unreadable, err := b.files.read(func(n Entry) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.guard(func() { b.add(n) })
	})
	if unreadable > 0 {
		err = errors.Join(err, fmt.Errorf("%d lines of events cannot be read", unreadable))
	}
	if err != nil { // it names files
		b.Log.Warn("figures leave out damaged events", "reason", err.Error())
		b.mu.Lock()
		b.damaged = true
		b.mu.Unlock()
	}
	b.expire() // the oldest file may have older events, too
}

// take completes an event, sums it up and passes it on. A panic costs that event. Requests from strangers, of which
// whoever reaches the port can send any number, are only passed on.
func (b *Book) take(n Entry) {
	b.guard(func() {
		if n.Exchange == nil || !n.Exchange.IsStranger() {
			b.keep(n)
		}
		for _, observe := range b.Observers {
			observe(n)
		}
	})
}

// guard processes an event, and logs a panic in that.
func (b *Book) guard(process func()) {
	defer func() {
		if r := recover(); r != nil {
			b.Log.Error("panic while processing an event", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	process()
}

// keep completes an event, numbers it, and adds it to files and sums.
func (b *Book) keep(n Entry) {
	if s := n.Summary; s != nil {
		s.Own = b.Biller.Charge(s)
	}
	if e := n.Exchange; e != nil {
		b.complete(e)
		if c := e.TakeCompacted(); c != nil {
			b.take(Entry{Compaction: c})
		}
	}
	*n.Seq() = b.seq + 1
	b.files.append(n)
	b.add(n)
}

// complete sets what is known of an exchange only now: the turn, the cause of a cache miss, and the cost.
func (b *Book) complete(e *event.Exchange) {
	e.Start = e.Start.Round(0) // wall clock only, as it is read from a file
	for _, text := range [...]*string{
		&e.Method, &e.Path, &e.Agent, &e.Model, &e.Title, &e.Folder, &e.Reason, &e.Err,
	} {
		*text = strings.Clone(event.Clip(*text)) // it may be a part of a large body, which would stay in memory with it
	}
	e.Kept = clipped(e.Kept)
	// A client can send any name. Half of the places are for those that a provider has answered.
	e.ModelUnknown = isFailed(e) && !b.models[e.Model] && len(b.models) >= mostModels/2
	c := b.conversations[e.Conversation]
	var before *event.Exchange // the last answered one of the conversation
	if c != nil {
		before = c.answered
		e.Turn = c.Turns + 1
	} else if e.Conversation != "" {
		e.Turn = 1
	}
	parent := b.conversations[e.Parent]
	if before == nil && parent != nil {
		before = parent.answered // the beginning that they share may be cached
	}
	b.Biller.Bill(e, before)
	e.Bill.Outgrew = isShaped(e) && e.Bill.Oversized && e.Conversation != "" && (c == nil || c.Sums.Money.Oversized == 0)
}

// clipped returns copies of the newest lines of the user's that begin with "keep:".
func clipped(lines []string) (kept []string) {
	for _, line := range lines[max(0, len(lines)-mostKept):] {
		kept = append(kept, strings.Clone(event.Clip(line)))
	}
	return kept
}

// add adds a complete event to the recent ones and to the sums.
func (b *Book) add(n Entry) {
	b.seq = max(b.seq, *n.Seq())
	b.recent = append(b.recent, n)
	over := len(b.recent) - mostRecent
	if over > mostRecent/10 {
		b.recent = slices.Clone(b.recent[over:])
	}
	if s := n.Summary; s != nil {
		c := b.conversationOf(s.Conversation, s.Time)
		if s.Own.Nano != 0 {
			c.Sums.addSummary(s)
			b.sumsOf(s.Time, s.Upstream, s.Model, s.Client, c.Agent).addSummary(s)
		}
	}
	if e := n.Exchange; e != nil { // it has all that is summed up of its compaction
		end := e.Start.Add(e.Duration)
		c := b.conversationOf(e.Conversation, end)
		c.add(e, end)
		c.Sums.addExchange(e)
		model := e.Model
		if e.ModelUnknown {
			model = otherName
		}
		b.sumsOf(end, e.Upstream, model, e.Client, e.Agent).addExchange(e)
	}
}

// expire forgets what is older than it is kept, in memory and on disk.
func (b *Book) expire() {
	oldest := b.Now().Add(-b.Keep)
	firstDay := b.dayOf(oldest).Format(time.DateOnly)
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.conversations, func(_ string, c *conversation) bool { return c.Last.Before(oldest) })
	maps.DeleteFunc(b.sums, func(at cell, _ *Sums) bool { return at.Date < firstDay })
	clear(b.models)
	clear(b.agents)
	for at := range b.sums {
		b.models[at.Model] = true
		b.agents[at.Agent] = true
	}
	b.files.tidy(oldest)
}

// Since returns the events after a number, and the number of the newest event. whole is false if some of them are no
// longer kept, or if there was no event of that number yet. The caller must not change the events.
func (b *Book) Since(seq uint64) (after []Entry, newest uint64, whole bool) {
	b.lock()
	defer b.mu.Unlock()
	if seq > b.seq {
		return nil, b.seq, false
	}
	first := sort.Search(len(b.recent), func(i int) bool { return *b.recent[i].Seq() > seq })
	after = slices.Clone(b.recent[first:])
	return after, b.seq, uint64(len(after)) == b.seq-seq
}

// Run is what became of the requests that came from an "epitome run", as far as their events are kept.
type Run struct {
	Sums       Sums `json:"sums"`
	BeyondFrom int  `json:"beyond_from,omitempty"` // turn at which a conversation passed its window
}

// Run returns what became of the requests of a run. It reads all events, as those in memory may have only its end.
func (b *Book) Run(name string) (r Run, err error) {
	ofRun := map[string]bool{} // conversations
	err = b.Each(func(n Entry) {
		if e := n.Exchange; e != nil && e.Run == name {
			r.Sums.addExchange(e)
			ofRun[e.Conversation] = true
			if e.Bill.Outgrew && r.BeyondFrom == 0 {
				r.BeyondFrom = e.Turn
			}
		}
		if s := n.Summary; s != nil && ofRun[s.Conversation] {
			r.Sums.addSummary(s)
		}
	})
	return r, err
}

// Troubles returns the newest hundred exchanges that failed, or that went on as they came because epitome failed; the
// newest first.
func (b *Book) Troubles() []event.Exchange {
	b.lock()
	defer b.mu.Unlock()
	all := []event.Exchange{}
	for _, n := range slices.Backward(b.recent) {
		if e := n.Exchange; e != nil && (isFailed(e) || e.Action == event.ActionBypass) && len(all) < 100 {
			all = append(all, *e)
		}
	}
	return all
}
