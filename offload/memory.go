package offload

import (
	"bytes"
	"context"
	"io/fs"
	"sync"
	"time"
)

// memory is a place that ends with its process, and with it all contents: none expires before.
type memory struct {
	mu       sync.Mutex
	contents map[string][]byte
}

// OpenMemory returns a shelf that ends with its process.
func OpenMemory(o Options) (*Shelf, error) {
	return (&Shelf{place: &memory{contents: map[string][]byte{}}}).open(o)
}

func (m *memory) secret() ([]byte, error) { return newSecret(), nil }

func (m *memory) put(name string, content []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.contents[name] = bytes.Clone(content)
	return nil
}

func (m *memory) renew(name string, size int64, _ time.Duration) (found bool, err error) {
	content, err := m.get(name)
	return err == nil && (size < 0 || size == int64(len(content))), nil
}

func (m *memory) get(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, found := m.contents[name]
	if !found {
		return nil, fs.ErrNotExist
	}
	return content, nil
}

func (m *memory) sweep(context.Context, time.Time) (swept Swept, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, content := range m.contents {
		swept.Left += int64(len(content))
	}
	return swept, nil
}
