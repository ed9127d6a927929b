package turns

import (
	"sync/atomic"
	"time"

	"epitome/store/shared"
)

// What was copied from a place whose facts have no tags has none here either: who looks for a fact of a conversation
// looks there too, as long as there may be any, and what is found is put where it belongs. What nobody looks for in
// the time for which facts live goes, and with it the fact that there is any.

// ImportKey is the key of the fact that there are such facts.
const ImportKey = "imported"

// Import notes that facts were copied, which live for keep.
func Import(s *shared.Store, keep time.Duration) error {
	_, err := s.Put(ImportKey, []byte{1}, keep)
	return err
}

// LacksTag tells whether a fact is a conversation's and has no tag.
func LacksTag(k shared.Key) bool {
	if k.Tag != "" || k.Name == "" {
		return false
	}
	switch k.Name[0] {
	case kindForm, kindList, kindName, kindNext, kindDecision, kindAddition:
		return true
	}
	return false
}

// imports is what is known of that.
type imports struct {
	any   atomic.Bool
	asked time.Time // when it was asked last; zero: never with an answer
}

const (
	importRest  = time.Second      // between two looks at the time
	importEvery = 10 * time.Second // between two questions that are answered
)

// look asks whether there are any, if it is time. One goroutine at a time does.
func (i *imports) look(s *shared.Store, now time.Time) {
	if !i.asked.IsZero() && now.Sub(i.asked) < importEvery && !now.Before(i.asked) {
		return
	}
	if _, found, err := s.Find(ImportKey); err == nil {
		i.any.Store(found)
		i.asked = now
	}
}

// untagged are those of the keys with a tag, without it.
func untagged(keys []shared.Key) (bare []shared.Key, places []int) {
	for i, k := range keys {
		if k.Tag != "" {
			bare, places = append(bare, shared.Key{Name: k.Name}), append(places, i)
		}
	}
	return bare, places
}
