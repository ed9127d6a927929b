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

// Take takes the lock for which the file at path stands, which it makes if it is missing, or returns ErrTaken. Closing
// the file gives it back.
func Take(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := hold(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
