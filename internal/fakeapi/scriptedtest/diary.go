package scriptedtest

import (
	"bytes"
	"sync"
)

// Diary is a log that can be read while it is written.
type Diary struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes a line.
func (d *Diary) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(b)
}

// String returns what was written so far.
func (d *Diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}
