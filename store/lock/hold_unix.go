//go:build linux || darwin

package lock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// hold takes the lock, or returns ErrTaken.
func hold(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrTaken
	case err != nil:
		return fmt.Errorf("cannot lock %s: %w", f.Name(), err)
	}
	return nil
}

// release gives the lock back for all that have the file open through this process.
func release(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
