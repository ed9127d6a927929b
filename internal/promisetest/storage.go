package promisetest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"epitome/offload"
	"epitome/store"
	"epitome/store/memory"
)

// Keep is how long cores keep decisions and artifacts in a play.
const Keep = 30 * 24 * time.Hour

// Storage is what processes share and leave behind: a store for decisions and a shelf for artifacts, both in memory.
// Two storages name equal artifacts alike.
type Storage struct {
	Store store.Store

	shelf *shelf
	facts store.Store // about the artifacts
	now   time.Time
}

// NewStorage returns an empty storage.
func NewStorage() *Storage {
	s := &Storage{shelf: &shelf{files: map[string]file{}}, now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return s.now }
	s.Store = failing{memory.New(1<<30, clock), &s.shelf.luck}
	s.facts = memory.New(1<<30, clock)
	return s
}

// Shelf opens the shelf of artifacts for a process that starts.
func (s *Storage) Shelf(t rapid.TB) *offload.Shelf {
	t.Helper()
	opened, err := offload.Open(offload.Options{Place: s.shelf, Store: s.facts, Quota: 1 << 30, Keep: Keep,
		Address: "url", URL: "http://127.0.0.1:7070/-/artifacts/", Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatalf("cannot open the shelf: %v", err)
	}
	return opened
}

// artifact returns the content of an artifact.
func (s *Storage) artifact(name string) (content string, found bool) {
	f, err := s.shelf.get(name)
	return string(f.content), err == nil
}

// loseArtifacts empties the shelf behind the back of all processes.
func (s *Storage) loseArtifacts() {
	_ = s.facts.Scan("", func(key string, _ store.Fact) bool { return s.facts.Delete(key) == nil })
	s.shelf.mu.Lock()
	defer s.shelf.mu.Unlock()
	clear(s.shelf.files)
}

// fail has each write succeed only if luck says so; nil means that all do.
func (s *Storage) fail(luck func() bool) { s.shelf.luck.set(luck) }

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

func (f failing) Put(key string, value []byte, keep time.Duration) (uint64, error) {
	if err := f.luck.write(); err != nil {
		return 0, err
	}
	return f.Store.Put(key, value, keep)
}

func (f failing) PutIfAbsent(key string, value []byte, keep time.Duration) (store.Fact, bool, error) {
	if err := f.luck.write(); err != nil {
		return store.Fact{}, false, err
	}
	return f.Store.PutIfAbsent(key, value, keep)
}

func (f failing) CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (store.Fact, bool, error) {
	if err := f.luck.write(); err != nil {
		return store.Fact{}, false, err
	}
	return f.Store.CompareAndSwap(key, old, value, keep)
}

// shelf is an offload.Place in memory whose writes fail by luck.
type shelf struct {
	luck  luck
	mu    sync.Mutex
	files map[string]file
}

type file struct {
	content []byte // never changed
	until   time.Time
}

func (s *shelf) Secret() ([]byte, error) { return bytes.Repeat([]byte("promises"), 4), nil }

func (s *shelf) Write(name string, content []byte, until time.Time) error {
	if err := s.luck.write(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = file{bytes.Clone(content), until}
	return nil
}

func (s *shelf) get(name string) (file, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, found := s.files[name]
	if !found {
		return file{}, fs.ErrNotExist
	}
	return f, nil
}

func (s *shelf) Look(name string) (offload.Entry, error) {
	f, err := s.get(name)
	return offload.Entry{Size: int64(len(f.content)), Until: f.until}, err
}

func (s *shelf) Open(name string) (io.ReadSeekCloser, error) {
	f, err := s.get(name)
	return reader{bytes.NewReader(f.content)}, err
}

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

func (s *shelf) Prolong(name string, until time.Time) error {
	f, err := s.get(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = file{f.content, until}
	return nil
}

func (s *shelf) Drop(name string, _ time.Time) (freed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, name)
	return true, nil
}

func (s *shelf) Names() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.files)), nil
}

func (s *shelf) Tidy(time.Time) (files int, size int64, err error) { return 0, 0, nil }
