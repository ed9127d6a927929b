package offload

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// memory is a place that ends with its process.
type memory struct {
	mu       sync.Mutex
	contents map[string]remembered
}

type remembered struct {
	content []byte // never changed
	renewed time.Time
}

// OpenMemory returns a shelf that ends with its process.
func OpenMemory(o Options) (*Shelf, error) {
	return (&Shelf{place: &memory{contents: map[string]remembered{}}}).open(o)
}

func (m *memory) secret() ([]byte, error) { return newSecret(), nil }

func (m *memory) put(name string, content []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.contents[name] = remembered{bytes.Clone(content), time.Now()}
	return nil
}

func (m *memory) renew(name string, size int64, _ time.Duration) (found bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, found := m.contents[name]
	if !found || size >= 0 && size != int64(len(r.content)) {
		return false, nil
	}
	m.contents[name] = remembered{r.content, time.Now()}
	return true, nil
}

func (m *memory) open(name string) (io.ReadCloser, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, found := m.contents[name]
	if !found {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(r.content)), int64(len(r.content)), nil
}

func (m *memory) find(prefix string) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.contents {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (m *memory) sweep(_ context.Context, before time.Time) (swept Swept, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, r := range m.contents {
		if size := int64(len(r.content)); r.renewed.Before(before) {
			delete(m.contents, name)
			swept.Files, swept.Bytes = swept.Files+1, swept.Bytes+size
		} else {
			swept.Left += size
		}
	}
	return swept, nil
}
