package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"epitome/store"
)

// Place is where memories are kept. Its methods may be called from any goroutine.
type Place interface {
	// Read is what is known to the owner; nothing, if the owner has no project.
	Read(o Owner) (Memory, error)
	// Learn has the owner's memory take in what a session says, beside whatever others say at the same time.
	Learn(o Owner, l Learned) error
}

// Facts keep memories; a store.Store does so, and what is said there of these methods holds here.
type Facts interface {
	Get(key string) (fact store.Fact, found bool)
	CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (store.Fact, bool, error)
	Delete(key string) error
	Scan(prefix string, visit func(key string, fact store.Fact) bool) error
	Touch(key string, keep time.Duration) (found bool, err error)
}

// Local is the place in epitome's own store.
type Local struct {
	facts Facts
	keep  func() time.Duration
	now   func() time.Time
}

var _ Place = (*Local)(nil)

// NewLocal returns the place over a store. keep is how long a memory is kept from when it was read or changed last.
func NewLocal(facts Facts, keep func() time.Duration, now func() time.Time) *Local {
	return &Local{facts, keep, now}
}

// Kept is a memory with its owner.
type Kept struct {
	Owner   Owner   `json:"owner"`
	Entries []Entry `json:"entries"` // the newest last
}

const prefix = "memory " // of all keys

// keyOf is where an owner's memory lies.
func keyOf(o Owner) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", len(o.Scope), o.Scope, o.Project))
	return prefix + hex.EncodeToString(sum[:])
}

// version is that of the form in which memories are written. What another one wrote is not understood.
const version = 1

type record struct {
	Version int `json:"v"`
	Kept
}

var (
	// ErrUnknown says that no entry has the id.
	ErrUnknown = errors.New("no entry has this id")

	errNoProject  = errors.New("there is no project")
	errUnreadable = errors.New("the memory is not as it was written: another version of epitome keeps it")
	errContended  = errors.New("too many others change the memory")
)

// Read does what Place says, and lets the memory live on.
func (l *Local) Read(o Owner) (Memory, error) {
	if o.Project == "" {
		return Memory{}, nil
	}
	m, version, err := l.at(o)
	if err != nil {
		return Memory{}, fmt.Errorf("cannot read the memory of a project: %w", err)
	}
	if version != 0 {
		_, _ = l.facts.Touch(keyOf(o), l.keep()) // what cannot be touched dies earlier
	}
	return m, nil
}

// at is the memory of an owner, and its version: 0 if there is none.
func (l *Local) at(o Owner) (m Memory, version uint64, err error) {
	fact, found, err := store.Find(l.facts, keyOf(o))
	if err != nil || !found {
		return Memory{}, 0, err
	}
	r, err := decode(fact.Bytes)
	if err != nil || r.Owner != o {
		return Memory{}, fact.Version, errUnreadable
	}
	return Of(r.Entries), fact.Version, nil
}

// decode reads a record.
func decode(value []byte) (r record, err error) {
	if err = json.Unmarshal(value, &r); err != nil || r.Version != version {
		return record{}, errUnreadable
	}
	return r, nil
}

// Learn does what Place says.
func (l *Local) Learn(o Owner, said Learned) error {
	if said.IsEmpty() {
		return nil
	}
	err := l.change(o, func(m Memory) (Memory, error) { return m.With(said, l.now()), nil })
	if err != nil {
		return fmt.Errorf("cannot keep what was learned in a project: %w", err)
	}
	return nil
}

// Forget takes the entry of this id away, or all of them if it is empty. It is ErrUnknown if there is none.
func (l *Local) Forget(o Owner, id string) error {
	err := l.change(o, func(m Memory) (Memory, error) {
		left := slices.DeleteFunc(slices.Clone(m.Entries), func(e Entry) bool { return id == "" || e.ID == id })
		if len(left) == len(m.Entries) {
			return m, ErrUnknown
		}
		return Memory{left}, nil
	})
	if errors.Is(err, errUnreadable) && id == "" {
		err = l.facts.Delete(keyOf(o))
	}
	if err != nil {
		return fmt.Errorf("cannot forget an entry of a project's memory: %w", err)
	}
	return nil
}

// mostTries is how often a change is tried beside others.
const mostTries = 16

// change has a memory become another one, unless that is equal.
func (l *Local) change(o Owner, become func(Memory) (Memory, error)) error {
	if o.Project == "" {
		return errNoProject
	}
	for range mostTries {
		was, old, err := l.at(o)
		if err != nil {
			return err
		}
		next, err := become(was)
		if err != nil || old == 0 && len(next.Entries) == 0 {
			return err
		}
		value, err := json.Marshal(record{version, Kept{o, next.Entries}})
		if err != nil {
			return err
		}
		if _, done, err := l.facts.CompareAndSwap(keyOf(o), old, value, l.keep()); err != nil || done {
			return err
		}
	}
	return errContended
}

// List are all memories that have entries, by owner.
func (l *Local) List() (all []Kept, err error) {
	err = l.facts.Scan(prefix, func(_ string, fact store.Fact) bool {
		if r, err := decode(fact.Bytes); err == nil {
			if r.Entries = Of(r.Entries).Entries; len(r.Entries) > 0 {
				all = append(all, r.Kept)
			}
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("cannot list memories: %w", err)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Owner.Compare(all[j].Owner) < 0 })
	return all, nil
}
