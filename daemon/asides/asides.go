// Package asides wires asides: their records lie in the store, and artifacts answer them.
//
// It promises that a record does not change once it stands, that what is in memory of records is bounded, and that one
// lives as long as its conversation is seen, as a decision does.
package asides

import (
	"fmt"
	"sync"
	"time"

	"epitome/console/recall"
	"epitome/rewrite/aside"
	chat "epitome/rewrite/chat/aside"
	messages "epitome/rewrite/messages/aside"
	responses "epitome/rewrite/responses/aside"
	"epitome/store"
)

// Options is what they need.
type Options struct {
	Store     store.Store   // of records
	Keep      time.Duration // from when a record was seen last
	Artifacts recall.Artifacts
}

// patience is after how many steps of one answer the model is told to answer.
const patience = 5

// New returns what weaves them.
func New(o Options) *aside.Loom {
	return &aside.Loom{
		Facts: &facts{options: o, now: time.Now, known: map[string]fact{}},
		Tool:  aside.Declaration{Description: recall.Description, Schema: []byte(recall.Schema)},
		Dialects: map[string]aside.Dialect{
			"": chat.Dialect{}, "messages": messages.Dialect{}, "responses": responses.Dialect{},
		},
		Answer: func(arguments string, step int) string {
			text := recall.Answer(o.Artifacts, arguments)
			if step > patience {
				text += fmt.Sprintf("\n[epitome: this was step %d of one answer. Answer now with what you have. After step %d "+
					"no call is answered.]", step, aside.MostRounds)
			}
			return text
		},
	}
}

// Woven is the conversation that a asks about with what is recorded of it in s, to be looked at. Nothing is kept for
// it, and no record lives longer.
func Woven(s store.Store, a aside.Ask) []byte {
	a.Replay = true
	t, _ := New(Options{Store: looking{s}}).Weave(a) // what is not known cannot be looked at
	if t == nil {
		return a.Body
	}
	return t.Body
}

// looking is a store that is only read.
type looking struct{ store.Store }

func (looking) Touch(string, time.Duration) (bool, error) { return true, nil }

// What is remembered of the store.
const (
	mostBytes  = 32 << 20    // of values; forgotten as a whole beyond that
	mostFacts  = 100_000     // likewise
	absentFor  = time.Minute // for which it is believed that there is no record; how a conversation began is asked for
	touchShare = 32          // of Keep, after which a record is touched again
)

// facts are records, some of them in memory. They implement aside.Facts.
type facts struct {
	options Options
	now     func() time.Time

	mu    sync.Mutex // guards all below
	known map[string]fact
	bytes int
}

// fact is what is known of a key.
type fact struct {
	value []byte
	found bool
	seen  time.Time // in the store, or touched there
}

// Find returns what was kept under key.
func (f *facts) Find(key string) (value []byte, found bool, err error) {
	f.mu.Lock()
	k, known := f.known[key]
	f.mu.Unlock()
	age := f.now().Sub(k.seen)
	switch {
	case known && k.found:
		if age > f.options.Keep/touchShare || age < 0 {
			_, _ = f.options.Store.Touch(key, f.options.Keep) // what cannot be touched expires earlier
			f.remember(key, k.value, true)
		}
		return k.value, true, nil
	case known && age < absentFor && age >= 0:
		return nil, false, nil
	}
	stored, found, err := store.Find(f.options.Store, key)
	if err != nil {
		return nil, false, err
	}
	value = stored.Bytes
	if found {
		_, _ = f.options.Store.Touch(key, f.options.Keep)
	}
	if found || !aside.IsBeginning(key) {
		f.remember(key, value, found)
	}
	return value, found, nil
}

// Keep keeps a value under key, unless there is one.
func (f *facts) Keep(key string, value []byte) error {
	standing, _, err := f.options.Store.PutIfAbsent(key, value, f.options.Keep)
	if err != nil { // it may stand all the same, and what is put once more changes nothing
		standing, _, err = f.options.Store.PutIfAbsent(key, value, f.options.Keep)
	}
	if err != nil {
		return err
	}
	f.remember(key, standing.Bytes, true)
	return nil
}

// remember keeps in memory what is known of a key.
func (f *facts) remember(key string, value []byte, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes+len(value) > mostBytes || len(f.known) >= mostFacts {
		clear(f.known)
		f.bytes = 0
	}
	f.bytes += len(value) - len(f.known[key].value)
	f.known[key] = fact{value: value, found: found, seen: f.now()}
}
