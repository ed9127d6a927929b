package offload

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"
)

// memoryMost bounds the contents of a shelf without a folder, in bytes.
const memoryMost = 64 << 20

// memoryPlace is a Place that ends with its process.
type memoryPlace struct {
	secret []byte

	mu       sync.Mutex
	contents map[string]memoryContent
}

type memoryContent struct {
	content []byte // never changed
	until   time.Time
}

func newMemoryPlace() *memoryPlace {
	return &memoryPlace{secret: freshSecret(), contents: map[string]memoryContent{}}
}

// Secret does what Place says.
func (m *memoryPlace) Secret() ([]byte, error) { return m.secret, nil }

// Write does what Place says.
func (m *memoryPlace) Write(name string, content []byte, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.contents[name] = memoryContent{slices.Clone(content), until}
	return nil
}

// Look does what Place says.
func (m *memoryPlace) Look(name string) (Entry, error) {
	k, err := m.get(name)
	return Entry{int64(len(k.content)), k.until}, err
}

func (m *memoryPlace) get(name string) (memoryContent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, found := m.contents[name]
	if !found {
		return memoryContent{}, fs.ErrNotExist
	}
	return k, nil
}

// Open does what Place says.
func (m *memoryPlace) Open(name string) (io.ReadSeekCloser, error) {
	k, err := m.get(name)
	if err != nil {
		return nil, err
	}
	return unclosed{bytes.NewReader(k.content)}, nil
}

type unclosed struct{ io.ReadSeeker }

func (unclosed) Close() error { return nil }

// Prolong does what Place says.
func (m *memoryPlace) Prolong(name string, until time.Time) error {
	k, err := m.get(name)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.contents[name] = memoryContent{k.content, until}
	}
	return err
}

// Drop does what Place says.
func (m *memoryPlace) Drop(name string, _ time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.contents, name)
	return true, nil
}

// Names does what Place says.
func (m *memoryPlace) Names() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.contents)), nil
}

// Tidy does what Place says.
func (m *memoryPlace) Tidy(time.Time) (int, int64, error) { return 0, 0, nil }
