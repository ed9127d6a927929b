package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sort"
	"time"

	"epitome/console/story/journal"
)

// mostBehind is how many lines are folded at the start that no snapshot has. There are more only if snapshots could not
// be written, or were lost.
const mostBehind = 50_000

// load folds what earlier processes have written down: the snapshot, and the lines behind it.
func (w *writer) load() {
	if text := w.journal.Snapshot(); text != nil {
		w.past.Lock()
		at, err := w.past.restore(text)
		w.past.Unlock()
		if err != nil {
			w.journal.SetAside(err)
		}
		w.behind = at
	}
	found := w.journal.After(w.behind, mostBehind)
	next := w.past.seq + 1
	all, torn := parse(found, next)
	switch lost := countLost(all, next); {
	case len(found) == mostBehind && (len(all) == 0 || all[0].Seq() > next):
		w.journal.Note(fmt.Sprintf("no snapshot has what was behind the newest %d events: figures lack it", mostBehind))
	case lost > torn:
		w.journal.Note(fmt.Sprintf("%d events stand in no file any more, and in no snapshot: figures lack them", lost-torn))
	}
	if torn > 0 {
		w.journal.Note(fmt.Sprintf("%d lines of what has happened could not be read and were passed over", torn))
	}
	for _, n := range all {
		w.fold(n)
	}
}

// parse reads lines with at least that number. Those that cannot be read are torn.
func parse(found [][]byte, first uint64) (all []Entry, torn int) {
	for _, line := range found {
		n, err := parseEntry(line)
		switch {
		case err != nil:
			torn++
		case n.Seq() >= first:
			first = n.Seq() + 1 // each counts once
			all = append(all, n)
		}
	}
	return all, torn
}

// countLost is how many numbers are missing from next on. Without a snapshot figures begin with the first event.
func countLost(all []Entry, next uint64) (lost int) {
	if len(all) == 0 {
		return 0
	}
	if next == 1 {
		next = all[0].Seq()
	}
	return int(all[len(all)-1].Seq()-next) + 1 - len(all)
}

// errNoEvent says that a line is JSON and yet no event.
var errNoEvent = errors.New("it is no event")

// parseEntry reads a line of the log.
func parseEntry(line []byte) (n Entry, err error) {
	if err = json.Unmarshal(line, &n); err != nil {
		return n, err
	}
	if n.Seq() == 0 {
		return n, errNoEvent
	}
	if n.Exchange != nil {
		compact(n.Exchange)
	}
	return n, nil
}

// manyRead is how many events leave more garbage behind than it costs to collect it.
const manyRead = 500

// recall reads the newest events of earlier processes, beside the writer, and hands them to it.
func (w *writer) recall(before uint64) {
	defer close(w.recalled)
	old, _ := parse(w.journal.After(journal.Position{}, mostEntries), 1)
	old = old[:sort.Search(len(old), func(i int) bool { return old[i].Seq() >= before })]
	w.do(func() {
		w.past.Lock()
		defer w.past.Unlock()
		w.past.prepend(old)
	})
	if len(old) >= manyRead {
		debug.FreeOSMemory() // what was read is garbage by now, and an idle program would keep it
	}
}

func timeOf(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}
