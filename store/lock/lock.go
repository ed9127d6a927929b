// Package lock is a lock that one process has at a time, on a file beside what it is for.
//
// It promises that a lock ends with the process that has it, however that ends. Who takes it twice is refused, within
// one process too.
package lock

import (
	"errors"
	"os"
)

// ErrTaken says that somebody has the lock.
var ErrTaken = errors.New("somebody else has the lock")

// Held is a lock that this process has.
type Held struct{ file *os.File }

// Close gives the lock back. A program that is being started just then has the file open too, and must not keep it.
func (h *Held) Close() error { return errors.Join(release(h.file), h.file.Close()) }

// Take takes the lock for which the file at path stands, which it makes if it is missing, or returns ErrTaken.
func Take(path string) (*Held, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := hold(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return &Held{f}, nil
}
