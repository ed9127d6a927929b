package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"sync"
	"time"

	"epitome/store"
)

// fleet has the sums of all replicas in the store that they share. Each replica adds what it has summed up since the
// last time, in batches, so that a batch whose write was not acknowledged is not counted twice.
type fleet struct {
	process string // of this replica; no other process has its name

	mu      sync.Mutex // held while a batch is written; taken before Book.mu
	batch   int64
	sending map[place]map[cell]*Sums // what is left of the batch
}

// parts is how many facts have the sums of a day, so that a batch reads and writes few of them.
const parts = 16

// part is a fact with some of the sums of a day.
type part struct {
	Batches map[string]int64 `json:"batches"` // the newest one in the sums, by process
	Rows    []partRow        `json:"rows"`
}

type partRow struct {
	Of   cell `json:"of"`
	Sums Sums `json:"sums"`
}

func readPart(value []byte) (p part) {
	_ = json.Unmarshal(value, &p) // there is none at first
	if p.Batches == nil {
		p.Batches = map[string]int64{}
	}
	return p
}

// place is where a part has its fact.
type place struct {
	day int64 // as in a cell
	n   uint32
}

// key has the date, as days begin at other times in other time zones.
func (p place) key(zone *time.Location) string {
	return fmt.Sprintf("usage %s %d", time.Unix(p.day, 0).In(zone).Format(time.DateOnly), p.n)
}

// Share adds what was summed up to the sums of all replicas. It does nothing if the store is not shared. After an error
// the rest stays here until the next call.
func (b *Book) Share() error {
	if b.Shared == nil {
		return nil
	}
	f := &b.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	err := b.send() // what is left of the batch before
	if err == nil {
		f.batch++
		f.sending = b.takeCells()
		err = b.send()
	}
	return err
}

// send adds the batch to the parts.
func (b *Book) send() error {
	for at, cells := range b.fleet.sending {
		if err := b.putPart(at, cells); err != nil {
			return err
		}
		delete(b.fleet.sending, at)
	}
	return nil
}

// takeCells takes the sums of this replica away, and returns them by the places of their parts.
func (b *Book) takeCells() map[place]map[cell]*Sums {
	b.lock()
	defer b.mu.Unlock()
	all := map[place]map[cell]*Sums{}
	for at, sums := range b.cells {
		h := fnv.New32a()
		_, _ = h.Write([]byte(at.Client + "\n" + at.Agent + "\n" + at.Model))
		to := place{at.day, h.Sum32() % parts}
		if all[to] == nil {
			all[to] = map[cell]*Sums{}
		}
		all[to][at] = sums
	}
	b.cells = map[cell]*Sums{}
	return all
}

// putPart adds sums to a part, unless an earlier call has.
func (b *Book) putPart(at place, cells map[cell]*Sums) error {
	key := at.key(b.Now().Location())
	old, err := store.Get(b.Shared, key)
	for err == nil {
		p := readPart(old)
		if p.Batches[b.fleet.process] == b.fleet.batch {
			return nil
		}
		p.Batches[b.fleet.process] = b.fleet.batch
		all := p.cells(at.day)
		addAll(all, cells)
		p.Rows = nil
		for of, sums := range all {
			p.Rows = append(p.Rows, partRow{of, *sums})
		}
		text, _ := json.Marshal(p) // numbers and names
		var standing []byte
		standing, err = b.Shared.Swap(key, old, text, b.Keep)
		if bytes.Equal(standing, text) {
			return err
		}
		old = standing // another replica was first
	}
	return err
}

// cells returns the sums of a part as those of a day.
func (p *part) cells(day int64) map[cell]*Sums {
	all := map[cell]*Sums{}
	for i := range p.Rows {
		at := p.Rows[i].Of
		at.day = day
		all[at] = &p.Rows[i].Sums
	}
	return all
}

// addAll adds sums to those that are there.
func addAll(all, more map[cell]*Sums) {
	for at, sums := range more {
		if all[at] == nil {
			all[at] = &Sums{}
		}
		all[at].add(sums)
	}
}

// ofFleet returns the sums of all replicas from a time on, and when they begin. Those of other replicas are as old as their
// last call of Share. After an error the sums are those that this replica has not shared.
func (b *Book) ofFleet(from time.Time) (all map[cell]*Sums, begins time.Time, err error) {
	now := b.Now()
	if oldest := now.Add(-b.Keep); from.Before(oldest) {
		from = oldest
	}
	err = b.Share()
	var keys []string
	var days []int64
	const ahead = 1 // a day, in another time zone
	for day := b.dayOf(from); err == nil && day.Before(now.AddDate(0, 0, ahead)); day = day.AddDate(0, 0, 1) {
		for n := range uint32(parts) {
			at := place{day.Unix(), n}
			keys = append(keys, at.key(now.Location()))
			days = append(days, at.day)
		}
	}
	var values [][]byte
	if len(keys) > 0 {
		values, err = b.Shared.GetMany(keys)
	}
	all = map[cell]*Sums{}
	for i, value := range values {
		p := readPart(value)
		maps.Copy(all, p.cells(days[i]))
		if begins.IsZero() && value != nil {
			begins = time.Unix(days[i], 0)
		}
	}
	b.fleet.mu.Lock()
	defer b.fleet.mu.Unlock()
	b.lock()
	defer b.mu.Unlock()
	for _, cells := range b.fleet.sending {
		addAll(all, cells)
	}
	addAll(all, b.cells)
	return all, begins, err
}
