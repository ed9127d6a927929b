package story

import (
	"encoding/json"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"epitome/console/story/journal"
	"epitome/event"
)

// queue is how many events wait for the writer at most.
const queue = 8192

// longestSettle is how long an answer waits for events that are on their way.
const longestSettle = 2 * time.Second

// writer is the one goroutine that writes events down, and the way to it.
type writer struct {
	conf    Config
	plugs   Plugs
	past    *past // changed by the writer alone
	journal *journal.Journal
	behind  journal.Position // where the newest line is that is in the snapshot that was read
	saved   struct {
		at  time.Time // when the last snapshot was made
		seq uint64    // of the newest event in it
	}
	in       chan item
	hurry    chan struct{} // somebody waits for the writer
	dropped  atomic.Uint64
	stop     chan struct{} // closed by close
	recalled chan struct{} // closed when the events of earlier processes were read
	ended    chan struct{} // closed when the writer has ended
	closing  sync.Once
}

// item is what is sent to the writer: an event, or something else that it is to do when it has come so far.
type item struct {
	Entry
	do func()
}

func newWriter(c Config, p Plugs, past *past) *writer {
	w := &writer{
		conf: c, plugs: p, past: past,
		journal: journal.New(journal.Options{Folder: c.Folder, Keep: c.Keep, Quota: c.Quota, Now: p.Now, Log: p.Log}),
		in:      make(chan item, queue), hurry: make(chan struct{}, 1), stop: make(chan struct{}),
		recalled: make(chan struct{}), ended: make(chan struct{}),
	}
	return w
}

// send never waits: an exchange would wait with it.
func (w *writer) send(n Entry) {
	select {
	case w.in <- item{Entry: n}:
	default:
		w.dropped.Add(1)
	}
}

// settle waits until all that was recorded before is folded, but not for long.
func (w *writer) settle() {
	settled, timeout := make(chan struct{}), time.NewTimer(longestSettle)
	defer timeout.Stop()
	select {
	case w.in <- item{do: func() { close(settled) }}:
		w.wake()
	case <-w.ended:
		return
	case <-timeout.C:
		return
	}
	select {
	case <-settled:
	case <-w.ended:
	case <-timeout.C:
	}
}

// do has the writer do something when it has come so far, unless it has ended.
func (w *writer) do(something func()) {
	select {
	case w.in <- item{do: something}:
		w.wake()
	case <-w.ended:
	}
}

// wake has the writer not rest.
func (w *writer) wake() {
	select {
	case w.hurry <- struct{}{}:
	default:
	}
}

// rest waits for more, if there is nothing to do. An event wakes nobody then: waking a goroutine for each one would
// cost an exchange more than all that is made of it.
func (w *writer) rest() {
	if len(w.in) > 0 {
		return
	}
	pause := time.NewTimer(restsFor)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-w.hurry:
	case <-w.stop:
	}
}

// close writes what was recorded, and ends the writer.
func (w *writer) close() {
	w.closing.Do(func() { close(w.stop) })
	<-w.ended
}

// How often what is done.
const (
	restsFor    = 50 * time.Millisecond
	flushEvery  = time.Second
	saveEvery   = time.Minute
	expireEvery = 10 * time.Minute
)

// write is the one writer.
func (w *writer) write() {
	defer close(w.ended)
	if w.conf.Folder != "" {
		w.load()
		go w.recall(w.past.seq + 1)
	} else {
		close(w.recalled)
	}
	w.expire()
	flush, expire := time.NewTicker(flushEvery), time.NewTicker(expireEvery)
	defer flush.Stop()
	defer expire.Stop()
	for {
		select {
		case i := <-w.in:
			w.take(i)
			w.rest()
		case <-flush.C:
			w.journal.Flush()
			if w.plugs.Now().Sub(w.saved.at) >= saveEvery {
				w.save()
			}
		case <-expire.C:
			w.expire()
		case <-w.stop:
			w.drain()
			w.journal.Retry()
			w.save()
			w.journal.Close()
			return
		}
	}
}

// expire lets go of what is old.
func (w *writer) expire() {
	w.past.Lock()
	w.past.expire(w.plugs.Now(), w.conf.Keep)
	w.past.Unlock()
	w.journal.Tidy()
}

// save makes a snapshot, if something has happened since the last one.
func (w *writer) save() {
	if w.conf.Folder == "" || w.past.seq == w.saved.seq {
		return
	}
	w.journal.Flush()
	at := w.journal.Position()
	if at == (journal.Position{}) {
		at = w.behind
	}
	text, err := w.past.save(at)
	if err != nil {
		w.plugs.Log.Error("BUG: what has happened is no JSON", "error", err.Error())
		return
	}
	w.saved.at = w.plugs.Now()
	if w.journal.Save(text) {
		w.saved.seq = w.past.seq
	}
}

// drain takes what was sent before the end.
func (w *writer) drain() {
	for {
		select {
		case i := <-w.in:
			w.take(i)
		default:
			return
		}
	}
}

// take writes one event down. A panic costs that event, or what a sink makes of it.
func (w *writer) take(i item) {
	defer func() {
		if r := recover(); r != nil {
			w.plugs.Log.Error("panic while writing an event down", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	if i.do != nil {
		i.do()
		return
	}
	if i.Exchange == nil || !i.Exchange.IsStranger() {
		w.complete(i.Entry)
		w.append(i.Entry)
		w.fold(i.Entry) // which keeps the title for the owner alone
		if w.plugs.Follow != nil {
			w.plugs.Follow(i.Entry)
		}
	}
	w.tell(i.Entry)
}

// complete fills in what is known only now. Nothing else may change an event afterwards.
func (w *writer) complete(n Entry) {
	*n.seq() = w.past.seq + 1
	switch {
	case n.Exchange != nil:
		w.completeExchange(n.Exchange)
	case n.Summary != nil && w.plugs.Charge != nil && n.Summary.Cost.Requests > 0:
		n.Summary.Own = w.plugs.Charge(n.Summary)
	}
}

func (w *writer) completeExchange(e *event.Exchange) {
	compact(e)
	var before *prior
	if e.Conversation != "" {
		e.Turn = 1
	}
	if t := w.past.talks[e.Conversation]; t != nil {
		e.Turn, before = t.line.Turns+1, t.prior
	}
	if t := w.past.talks[e.Parent]; before == nil && t != nil {
		before = t.prior // what it has in common with the one it has left may be cached
	}
	if isConversation(e) && e.ShapeTime > 0 {
		e.Miss = missOf(e, before, w.life(e))
	}
	if w.plugs.Bill != nil {
		pause := time.Duration(-1)
		if before != nil {
			pause = max(0, e.Start.Sub(before.Start))
		}
		w.plugs.Bill(e, pause)
	}
}

func (w *writer) life(e *event.Exchange) time.Duration {
	if w.plugs.Life == nil {
		return usualLife
	}
	return w.plugs.Life(e)
}

// append writes a line of the log.
func (w *writer) append(n Entry) {
	if w.conf.Folder == "" {
		return
	}
	line, err := json.Marshal(n)
	if err != nil {
		w.plugs.Log.Error("BUG: an event is no JSON", "error", err.Error())
		return
	}
	w.journal.Append(line)
}

func (w *writer) fold(n Entry) {
	w.past.Lock()
	defer w.past.Unlock()
	w.past.add(n)
}

// tell hands an event to those who hear of it.
func (w *writer) tell(n Entry) {
	switch {
	case n.Exchange != nil:
		w.plugs.Sinks.RecordExchange(*n.Exchange)
	case n.Compaction != nil:
		w.plugs.Sinks.RecordCompaction(*n.Compaction)
	case n.Warning != nil:
		w.plugs.Sinks.RecordWarning(*n.Warning)
	case n.Summary != nil:
		w.plugs.Sinks.RecordSummary(*n.Summary)
	}
}
