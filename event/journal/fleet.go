package journal

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"hash/crc32"
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
	sending map[string]cells // what is left of the batch, by the key of a part
}

// parts is how many facts have the sums of a day, so that a batch reads and writes few of them.
const parts = 4

// part is a fact with some of the sums of a day.
type part struct {
	Batches map[string]int64 // the newest one in the sums, by process
	Sums    cells
}

func readPart(value []byte) *part {
	p := &part{Batches: map[string]int64{}, Sums: cells{}}
	_ = gob.NewDecoder(bytes.NewReader(value)).Decode(p) // there is none at first
	return p
}

// keyOf returns the key of a part. It has the date, as days begin at other times in other time zones.
func keyOf(day string, part int) string { return fmt.Sprintf("usage %s %d", day, part) }

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
	for key, sums := range b.fleet.sending {
		if err := b.addToPart(key, sums); err != nil {
			return err
		}
		delete(b.fleet.sending, key)
	}
	return nil
}

// takeCells takes the sums of this replica away, and returns them by the keys of their parts.
func (b *Book) takeCells() map[string]cells {
	b.lock()
	defer b.mu.Unlock()
	all := map[string]cells{}
	for at, sums := range b.cells {
		h := crc32.ChecksumIEEE([]byte(at.Client + "\n" + at.Agent + "\n" + at.Model))
		key := keyOf(at.Day, int(h%parts))
		if all[key] == nil {
			all[key] = cells{}
		}
		all[key][at] = sums
	}
	b.cells = cells{}
	return all
}

// addToPart adds sums to a part, unless an earlier call has.
func (b *Book) addToPart(key string, sums cells) error {
	old, err := store.Get(b.Shared, key)
	for err == nil {
		p := readPart(old)
		if p.Batches[b.fleet.process] == b.fleet.batch {
			return nil
		}
		p.Batches[b.fleet.process] = b.fleet.batch
		p.Sums.add(sums)
		var value bytes.Buffer
		_ = gob.NewEncoder(&value).Encode(p) // numbers and names
		var standing []byte
		standing, err = b.Shared.Swap(key, old, value.Bytes(), b.Keep)
		if bytes.Equal(standing, value.Bytes()) {
			return err
		}
		old = standing // another replica was first
	}
	return err
}

// ofFleet returns the sums of all replicas from a time on, and when they begin. Those of other replicas are as old as their
// last call of Share. After an error the sums are those that this replica has not shared.
func (b *Book) ofFleet(from time.Time) (all cells, begins time.Time, err error) {
	now := b.Now()
	if oldest := now.Add(-b.Keep); from.Before(oldest) {
		from = oldest
	}
	first := b.dayOf(from)
	var keys []string
	const ahead = 1 // a day, in another time zone
	for day := first; day.Before(now.AddDate(0, 0, ahead)); day = day.AddDate(0, 0, 1) {
		for n := range parts {
			keys = append(keys, keyOf(day.Format(time.DateOnly), n))
		}
	}
	var values [][]byte
	err = b.Share()
	if err == nil {
		values, err = b.Shared.GetMany(keys)
	}
	all = cells{}
	for i, value := range values {
		maps.Copy(all, readPart(value).Sums)
		if begins.IsZero() && value != nil {
			begins = first.AddDate(0, 0, i/parts)
		}
	}
	b.fleet.mu.Lock()
	defer b.fleet.mu.Unlock()
	b.lock()
	defer b.mu.Unlock()
	for _, sums := range b.fleet.sending {
		all.add(sums)
	}
	all.add(b.cells)
	return all, begins, err
}
