package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// At returns the decision under a key, with all its edits.
func (l *Ledger) At(key string) (d Decision, found bool, err error) {
	_, list, i, err := l.at(key)
	if err != nil || i < 0 {
		return Decision{}, false, err
	}
	found, err = l.readEdits(&list[i], Decision{})
	return list[i], found, err
}

// at returns the record that has the decision under a key, its decisions, and the index of that one; -1 if it has none.
func (l *Ledger) at(key string) (record []byte, list []Decision, i int, err error) {
	recordKey, _, _ := strings.Cut(key, "/")
	record, _, err = l.store.Get(recordKey)
	if err != nil {
		return nil, nil, -1, fmt.Errorf("cannot look for a decision: %w", err)
	}
	list = parse(record, recordKey)
	return record, list, slices.IndexFunc(list, func(d Decision) bool { return d.Key == key }), nil
}

// update puts the decisions that change returns in the place of those of the record that has the decision under a key;
// i is the index of that one. It does nothing if there is no such decision, or if change returns nil. If the record is
// replaced meanwhile, change is called once more.
func (l *Ledger) update(key string, change func(list []Decision, i int) ([]Decision, error)) error {
	recordKey, _, _ := strings.Cut(key, "/")
	for {
		record, list, i, err := l.at(key)
		if err != nil || i < 0 {
			return err
		}
		list, err = change(list, i)
		if err != nil || list == nil {
			return err
		}
		value, _ := json.Marshal(list) // plain data
		there, err := l.store.Swap(recordKey, record, value, l.keep)
		if err != nil || bytes.Equal(there, value) {
			return err
		}
	}
}

// Restore marks the decision under a key as Undone: requests that continue its prefix are to be sent without its edits.
// It returns how many these are; 0 if there are none, or if the decision is not known or is Undone already.
func (l *Ledger) Restore(key string) (edits int, err error) {
	err = l.update(key, func(list []Decision, i int) ([]Decision, error) {
		d := &list[i]
		edits = 0
		if d.Undone {
			return nil, nil
		}
		isWhole, err := l.readEdits(d, Decision{})
		if err != nil || !isWhole {
			return nil, err
		}
		edits = len(d.Undo())
		if edits == 0 {
			return nil, nil
		}
		d.Undone = true
		return list, nil
	})
	return edits, err
}

// Forget removes the decisions under keys, and edits by their names. Lists of names stay until they expire.
func (l *Ledger) Forget(keys, edits []string) error {
	gone := slices.Clone(edits)
	for _, key := range keys {
		isLast := false // no other decision is in the record
		err := l.update(key, func(list []Decision, i int) ([]Decision, error) {
			isLast = len(list) == 1
			return slices.Delete(list, i, i+1), nil
		})
		if err != nil {
			return fmt.Errorf("cannot forget a decision: %w", err)
		}
		if isLast {
			recordKey, _, _ := strings.Cut(key, "/")
			gone = append(gone, recordKey)
		}
	}
	return l.store.Delete(gone...)
}

// IsStale reports whether the edits of a decision have to be touched, long before they expire. Their artifacts are due
// at the same time.
func (l *Ledger) IsStale(d Decision, now time.Time) bool {
	const every = 10 * time.Minute                                   // or less where edits are kept for a short time
	return now.Round(0).Sub(d.Touched).Abs() > min(l.keep/32, every) // in the future if the clock was set back
}

// Touch prolongs the life of a decision's edits. Those that cannot be touched expire earlier, and their items are decided
// anew.
func (l *Ledger) Touch(d Decision) {
	var work errgroup.Group
	work.SetLimit(atOnce)
	for _, name := range slices.Concat(append(slices.Collect(maps.Values(d.lists)), d.Names, d.Lists)...) {
		work.Go(func() error { return l.store.Touch(name, l.keep) })
	}
	_ = work.Wait()
}
