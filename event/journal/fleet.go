package journal

import (
	"bytes"
	"encoding/gob"
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
	sending days // what is left of the batch
}

// dayFact is a fact with the sums of a day. Its key has the date, as days begin at other times in other time zones. Six
// thousand sums and more fit into it.
type dayFact struct {
	Batches map[string]int64 // the newest one in the sums, by process
	Sums    days             // of that day alone
}

const keyPrefix = "usage "

func readDay(value []byte) *dayFact {
	d := &dayFact{Batches: map[string]int64{}, Sums: days{}}
	_ = gob.NewDecoder(bytes.NewReader(value)).Decode(d) // there is none at first
	return d
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
		b.lock()
		f.sending, b.days = b.days, days{}
		b.mu.Unlock()
		err = b.send()
	}
	return err
}

// send adds the batch to the days.
func (b *Book) send() error {
	for date := range b.fleet.sending {
		if err := b.addToDay(date); err != nil {
			return err
		}
		delete(b.fleet.sending, date)
	}
	return nil
}

// addToDay adds the batch to the sums of a day, unless an earlier call has.
func (b *Book) addToDay(date string) error {
	key := keyPrefix + date
	old, err := store.Get(b.Shared, key)
	for err == nil {
		d := readDay(old)
		if d.Batches[b.fleet.process] == b.fleet.batch {
			return nil
		}
		d.Batches[b.fleet.process] = b.fleet.batch
		d.Sums.add(days{date: b.fleet.sending[date]})
		var value bytes.Buffer
		_ = gob.NewEncoder(&value).Encode(d) // numbers and names
		var standing []byte
		standing, err = b.Shared.Swap(key, old, value.Bytes(), b.Keep)
		if bytes.Equal(standing, value.Bytes()) {
			return err
		}
		old = standing // another replica was first
	}
	return err
}

// ofFleet returns the sums of all replicas from a time on. Those of other replicas are as old as their last call of
// Share. After an error the sums are those that this replica has not shared.
func (b *Book) ofFleet(from time.Time) (all days, err error) {
	now := b.Now()
	if oldest := now.Add(-b.Keep); from.Before(oldest) {
		from = oldest
	}
	var keys []string
	const ahead = 1 // a day, in another time zone
	for day := b.dayOf(from); day.Before(now.AddDate(0, 0, ahead)); day = day.AddDate(0, 0, 1) {
		keys = append(keys, keyPrefix+day.Format(time.DateOnly))
	}
	var values [][]byte
	err = b.Share()
	if err == nil {
		values, err = b.Shared.GetMany(keys)
	}
	all = days{}
	for _, value := range values {
		maps.Copy(all, readDay(value).Sums)
	}
	b.fleet.mu.Lock()
	defer b.fleet.mu.Unlock()
	b.lock()
	defer b.mu.Unlock()
	all.add(b.fleet.sending)
	all.add(b.days)
	return all, err
}
