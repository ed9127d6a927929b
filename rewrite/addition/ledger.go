package addition

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"epitome/rewrite/decision"
	"epitome/rewrite/span"
)

// Library keeps the files that people give to conversations. Its methods may be called from any goroutine.
type Library interface {
	// Lend puts the files of these names on the shelf, for who shares the scope, and says what they are.
	Lend(scope string, names []string) ([]File, error)
	// Renew lets what was lent live on, and puts again what is lost, as far as it is kept still.
	Renew(scope string, files []File)
}

// Memories know what earlier sessions have learned. Their methods may be called from any goroutine.
type Memories interface {
	// Recall is what a model is shown of what is known in a project, for who shares the scope; empty if nothing is. It
	// waits no longer than a client may.
	Recall(scope, project string) (text string, err error)
	// Remembers reports whether conversations are told at all.
	Remembers() bool
}

// Sources are where texts are from.
type Sources struct {
	Library  Library  // keeps the files that conversations may ask for; nil if none are given any
	Memories Memories // nil if no conversation is told what is known
}

// At are the records under the key. Those of another version are not understood: there are none, but they have a
// version in the ledger.
func At(g decision.Ledger, key string) (list Records, version uint64) {
	value, version, found := g.Get(key)
	if !found {
		return nil, 0
	}
	list, err := Decode(value)
	if err != nil {
		return nil, version
	}
	return list, version
}

const (
	mostTries   = 5  // other requests may be adding, too
	mostRecords = 16 // under one key
)

// ErrTooMany says that nothing more can be told apart: nothing is added.
var ErrTooMany = errors.New("too many equal requests have asked for other files, or for other projects' memories")

// Settle records what is added, and returns what stands then for who asked for the same. begun says that an equal
// conversation may have begun without: it goes on so.
func Settle(g decision.Ledger, key string, r *Record, begun bool) (*Record, error) {
	list, version := At(g, key)
	later := begun || version != 0
	if version == 0 && begun && !r.IsEmpty() {
		list = Records{{}}
	}
	for range mostTries {
		if standing := list.For(r.Wish); standing != nil {
			return standing, nil
		}
		if len(list) >= mostRecords || version != 0 && list == nil {
			return nil, ErrTooMany
		}
		value := append(list[:len(list):len(list)], *r).Encode()
		var standing []byte
		var err error
		if later { // at once: where a request comes again, nothing is recorded with its decision
			standing, version, _, err = g.Swap(key, version, value)
		} else {
			standing, version, err = g.Add(key, value)
		}
		if err == nil {
			list, err = Decode(standing)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot record what is added to a conversation: %w", err)
		}
		later = true
	}
	return list.For(r.Wish), nil
}

// Renew has the record stand for all who ask for the same, in the place of one that is stale now, and returns what
// stands then: somebody else may have been faster.
func Renew(g decision.Ledger, key string, r *Record, now time.Time) (*Record, error) {
	return replace(g, key, r, func(was *Record) bool { return was.IsStale(now) })
}

// Replace has the record stand for all who ask for the same.
func Replace(g decision.Ledger, key string, r *Record) error {
	_, err := replace(g, key, r, func(*Record) bool { return true })
	return err
}

var errContended = errors.New("cannot replace what was added to a conversation: too many others change it")

// replace puts the record in the place of one for the same that gives way, and returns what stands then.
func replace(g decision.Ledger, key string, r *Record, givesWay func(was *Record) bool) (*Record, error) {
	for range mostTries {
		list, version := At(g, key)
		if was := list.For(r.Wish); was != nil && !givesWay(was) {
			return was, nil
		}
		list = slices.DeleteFunc(slices.Clone(list), func(l Record) bool { return l.equals(r.Wish) })
		if _, _, done, err := g.Swap(key, version, append(list, *r).Encode()); err != nil || done {
			return r, err
		}
	}
	return nil, errContended
}

// Bind records what a conversation was given from where it has parted from those that began alike, and returns what
// stands then for its project: one of another project may have gone on in the same words.
func Bind(g decision.Ledger, key string, r *Record) (*Record, error) {
	list, version := At(g, key)
	for range mostTries {
		if standing := list.In(r.Project); standing != nil {
			return standing, nil
		}
		if len(list) >= mostRecords || version != 0 && list == nil {
			return r, nil
		}
		value := append(list[:len(list):len(list)], *r).Encode()
		var standing []byte
		var err error
		if version == 0 {
			standing, version, err = g.Add(key, value)
		} else {
			standing, version, _, err = g.Swap(key, version, value)
		}
		if err == nil {
			list, err = Decode(standing)
		}
		if err != nil {
			return r, fmt.Errorf("cannot record what was added to a conversation: %w", err)
		}
	}
	return r, nil
}

// Undo is what takes the edits own away again, in the body that all edits have made of this one. Those are in their
// order.
func Undo(body []byte, all, own []span.Edit) (undo []span.Edit) {
	shift := 0
	for _, e := range all {
		if slices.ContainsFunc(own, func(o span.Edit) bool { return isSame(e, o) }) {
			at := span.Span{Start: e.Start + shift, End: e.Start + shift + len(e.With)}
			undo = append(undo, span.Edit{Span: at, With: slices.Clone(e.Of(body))})
		}
		shift += len(e.With) - (e.End - e.Start)
	}
	return undo
}

// isSame reports whether both are one edit: two share no memory.
func isSame(a, b span.Edit) bool {
	return len(a.With) > 0 && len(b.With) > 0 && &a.With[0] == &b.With[0]
}
