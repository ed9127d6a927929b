package offload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"epitome/store"
)

// memoryMost is how many bytes of contents a shelf without a folder has at most.
const memoryMost = 64 << 20

// place is what shelves on disk and in memory differ in: contents by name. Names are well-formed, and of one name one
// method runs at a time, except open. Absence is fs.ErrNotExist.
type place interface {
	// write lays content under name in place of what was there. After an error what was there may be gone too.
	write(name string, content []byte, until time.Time) error

	// look tells what lies under name without reading it.
	look(name string) (entry, error)

	// open returns the content, which stays readable whatever happens to the name.
	open(name string) (io.ReadSeekCloser, error)

	// prolong changes until and nothing else.
	prolong(name string, until time.Time) error

	// drop deletes what nobody wants: freed is false where another process has just prolonged it.
	drop(name string, now time.Time) (freed bool, err error)

	// names are those of all contents.
	names() ([]string, error)

	// tidy deletes what writes have left that did not come to their end.
	tidy(now time.Time) (n int, bytes int64, err error)
}

// entry is what can be known of a content without reading it.
type entry struct {
	size  int64     // bytes
	until time.Time // when it may go
}

// memory is a place that ends with its process.
type memory struct {
	mu       sync.Mutex
	contents map[string]kept
}

type kept struct {
	content []byte // never changed
	until   time.Time
}

func newMemory() *memory { return &memory{contents: map[string]kept{}} }

func (m *memory) write(name string, content []byte, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.contents[name] = kept{slices.Clone(content), until}
	return nil
}

func (m *memory) look(name string) (entry, error) {
	k, err := m.get(name)
	return entry{int64(len(k.content)), k.until}, err
}

func (m *memory) get(name string) (kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, found := m.contents[name]
	if !found {
		return kept{}, fs.ErrNotExist
	}
	return k, nil
}

func (m *memory) open(name string) (io.ReadSeekCloser, error) {
	k, err := m.get(name)
	if err != nil {
		return nil, err
	}
	return unclosed{bytes.NewReader(k.content)}, nil
}

type unclosed struct{ io.ReadSeeker }

func (unclosed) Close() error { return nil }

func (m *memory) prolong(name string, until time.Time) error {
	k, err := m.get(name)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.contents[name] = kept{k.content, until}
	}
	return err
}

func (m *memory) drop(name string, _ time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.contents, name)
	return true, nil
}

func (m *memory) names() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.contents)), nil
}

func (m *memory) tidy(time.Time) (int, int64, error) { return 0, 0, nil }

// refused is an error of the store, whose text begins with the key.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// ofStore marks what the store has returned.
func ofStore(err error) error {
	if err == nil {
		return nil
	}
	return refused{err}
}

// full makes ErrFull of an error that says so in other words.
func full(err error) error {
	if errors.Is(err, store.ErrNoSpace) || diskFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, cause(err))
	}
	return cause(err)
}

func diskFull(err error) bool {
	if runtime.GOOS == "windows" {
		const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
		return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// cause is err without the path or the key, which hold a name.
func cause(err error) error {
	if e := (refused{}); errors.As(err, &e) {
		return cmp.Or(errors.Unwrap(e.error), e.error)
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
