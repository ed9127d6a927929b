package promisetest

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"epitome/offload"
	"epitome/store"
)

// Keep is how long cores keep decisions and artifacts in a play.
const Keep = 30 * 24 * time.Hour

// Storage is what processes share and leave behind: a store for decisions and a shelf for artifacts, both in memory.
// Two storages name equal artifacts alike.
type Storage struct {
	Store store.Store
	Shelf *Shelf
	now   time.Time
}

// NewStorage returns an empty storage.
func NewStorage() *Storage {
	s := &Storage{Shelf: &Shelf{contents: map[string]string{}}, now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)}
	s.Store = failing{store.NewMemory(1 << 30), &s.Shelf.luck}
	return s
}

// fail has each write succeed only if luck says so; nil means that all do.
func (s *Storage) fail(luck func() bool) { s.Shelf.luck.set(luck) }

// Shelf keeps artifacts in memory. Its writes fail by luck.
type Shelf struct {
	luck     luck
	mu       sync.Mutex
	contents map[string]string // by name
}

// Name returns a hash of scope and content.
func (*Shelf) Name(scope string, content []byte) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s", len(scope), scope, content))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:26])
}

// Address returns a URL.
func (*Shelf) Address(name string) string { return "http://127.0.0.1:7070/-/artifacts/" + name }

// Put keeps content.
func (s *Shelf) Put(name string, content []byte, _ bool) error {
	if err := s.luck.write(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contents[name] = string(content)
	return nil
}

// Touch reports whether there is an artifact.
func (s *Shelf) Touch(name string) bool {
	_, found := s.artifact(name)
	return found
}

// Full is false: there is room for everything.
func (*Shelf) Full() bool { return false }

func (s *Shelf) artifact(name string) (content string, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, found = s.contents[name]
	return content, found
}

// lose empties the shelf behind the back of all processes.
func (s *Shelf) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.contents)
}

// artifactNames returns what may be names of artifacts in a text.
func artifactNames(text string) (names []string) {
	start := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= '2' && text[i] <= '7') {
			continue
		}
		if word := text[start:i]; offload.IsName(word) {
			names = append(names, word)
		}
		start = i + 1
	}
	return names
}

var errBadLuck = errors.New("the disk fails")

// luck decides which writes fail.
type luck struct {
	mu   sync.Mutex
	draw func() bool
}

func (l *luck) set(draw func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draw = draw
}

func (l *luck) write() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draw != nil && !l.draw() {
		return errBadLuck
	}
	return nil
}

// failing is a store whose writes fail by luck.
type failing struct {
	store.Store
	luck *luck
}

func (f failing) Put(key string, value []byte, keep time.Duration) error {
	if err := f.luck.write(); err != nil {
		return err
	}
	return f.Store.Put(key, value, keep)
}

func (f failing) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	if err := f.luck.write(); err != nil {
		return nil, err
	}
	return f.Store.Swap(key, old, value, keep)
}
