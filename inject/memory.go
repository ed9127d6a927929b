package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"epitome/internal/unit"
	"epitome/store"
)

// MemoryConfig is the table [memory] of config.toml.
type MemoryConfig struct {
	Enabled bool          `toml:"enabled"`
	After   unit.Duration `toml:"after"` // without a request, until a conversation counts as quiet
	Keep    unit.Duration `toml:"keep"`  // of a project's notes, from their last use
}

// Check returns an error if the configuration is wrong in itself.
func (c MemoryConfig) Check() error {
	for key, value := range map[string]unit.Duration{"after": c.After, "keep": c.Keep} {
		if value <= 0 {
			return unit.Wrong([]string{"memory", key}, "cannot use memory.%s %s: it must be greater than zero", key, value)
		}
	}
	return nil
}

// Owner is whose notes are kept together.
type Owner struct {
	Scope   string `json:"scope"`   // of the credential, as decisions are scoped
	Project string `json:"project"` // as ProjectName writes it; without one nothing is read and nothing kept
}

// ProjectName returns the name of a project as one line; empty if it has more than 200 characters.
func ProjectName(name string) string {
	const most = 200
	if name = cleanLine(name); length(name) > most {
		return ""
	}
	return name
}

// Notes are what is known of a project.
type Notes struct {
	Owner   Owner   `json:"owner"`
	Entries []Entry `json:"entries"` // the newest last
}

// Facts keep notes; a store.Store does.
type Facts interface {
	Get(key string) (fact store.Fact, found bool)
	CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (store.Fact, bool, error)
	Delete(key string) error
	Scan(prefix string, visit func(key string, fact store.Fact) bool) error
	Touch(key string, keep time.Duration) (found bool, err error)
}

// Memory keeps the notes of all projects. Of two that learn at the same time, neither loses what the other one has
// learned. Its methods may be called from any goroutine.
type Memory struct {
	facts Facts
	now   func() time.Time
	conf  atomic.Pointer[MemoryConfig]
}

// NewMemory returns the memory in a store.
func NewMemory(facts Facts, c MemoryConfig, now func() time.Time) *Memory {
	m := &Memory{facts: facts, now: now}
	m.Configure(c)
	return m
}

// Configure puts another configuration in force.
func (m *Memory) Configure(c MemoryConfig) { m.conf.Store(&c) }

// On reports whether conversations are told of notes and sessions learned from. Notes can be listed and forgotten while
// it is off. A nil Memory is off.
func (m *Memory) On() bool { return m != nil && m.conf.Load().Enabled }

func (m *Memory) keep() time.Duration { return m.conf.Load().Keep.D() }

const memoryPrefix = "memory " // of all keys

func (o Owner) key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", len(o.Scope), o.Scope, o.Project))
	return memoryPrefix + hex.EncodeToString(sum[:])
}

// ErrNoEntry says that no entry has the ID.
var ErrNoEntry = errors.New("no entry has this ID")

var errUnreadable = errors.New("the notes are not as this version of epitome writes them")

// Read returns what is known to an owner.
func (m *Memory) Read(o Owner) (Notes, error) {
	entries, _, err := m.read(o)
	if err != nil {
		return Notes{}, fmt.Errorf("cannot read the notes of a project: %w", err)
	}
	return Notes{o, entries}, nil
}

// read returns entries with their version; 0 if there are none.
func (m *Memory) read(o Owner) (entries []Entry, version uint64, err error) {
	if o.Project == "" {
		return nil, 0, nil
	}
	fact, found, err := store.Find(m.facts, o.key())
	if err != nil || !found {
		return nil, 0, err
	}
	var n Notes
	if json.Unmarshal(fact.Bytes, &n) != nil || n.Owner != o {
		return nil, 0, errUnreadable
	}
	return bounded(n.Entries), fact.Version, nil
}

// touch lets the notes live on.
func (m *Memory) touch(o Owner) { _, _ = m.facts.Touch(o.key(), m.keep()) } // what fails dies earlier

// Learn adds what a session says, and takes back what it says is no longer true.
func (m *Memory) Learn(o Owner, l Learned) error {
	if l.IsEmpty() {
		return nil
	}
	err := m.change(o, func(entries []Entry) ([]Entry, error) {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return slices.Contains(l.Drop, e.ID) })
		for _, e := range l.Add {
			e.At = m.now()
			entries = append(entries, e)
		}
		return bounded(entries), nil
	})
	if err != nil {
		return fmt.Errorf("cannot keep what was learned in a project: %w", err)
	}
	return nil
}

// Forget removes the entry with an ID; all entries if the ID is empty. The error is ErrNoEntry if there is none.
func (m *Memory) Forget(o Owner, id string) error {
	err := m.change(o, func(entries []Entry) ([]Entry, error) {
		left := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return id == "" || e.ID == id })
		if len(left) == len(entries) {
			return nil, ErrNoEntry
		}
		return left, nil
	})
	if errors.Is(err, errUnreadable) && id == "" {
		err = m.facts.Delete(o.key())
	}
	if err != nil {
		return fmt.Errorf("cannot forget what was learned in a project: %w", err)
	}
	return nil
}

// change replaces entries, and tries again if others change them meanwhile.
func (m *Memory) change(o Owner, replace func([]Entry) ([]Entry, error)) error {
	const tries = 16
	if o.Project == "" {
		return errors.New("there is no project")
	}
	for range tries {
		was, version, err := m.read(o)
		if err != nil {
			return err
		}
		next, err := replace(was)
		if err != nil || version == 0 && len(next) == 0 {
			return err
		}
		value, err := json.Marshal(Notes{o, next})
		if err != nil {
			return err
		}
		if _, done, err := m.facts.CompareAndSwap(o.key(), version, value, m.keep()); err != nil || done {
			return err
		}
	}
	return errors.New("too many others change the notes")
}

// List returns the notes of all owners who have any, sorted by scope and project.
func (m *Memory) List() (all []Notes, err error) {
	err = m.facts.Scan(memoryPrefix, func(_ string, fact store.Fact) bool {
		var n Notes
		if json.Unmarshal(fact.Bytes, &n) == nil {
			if n.Entries = bounded(n.Entries); len(n.Entries) > 0 {
				all = append(all, n)
			}
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("cannot list what was learned: %w", err)
	}
	slices.SortFunc(all, func(a, b Notes) int {
		return strings.Compare(a.Owner.Scope+"\x00"+a.Owner.Project, b.Owner.Scope+"\x00"+b.Owner.Project)
	})
	return all, nil
}
