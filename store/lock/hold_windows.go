package lock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// hold takes the lock, or returns ErrTaken.
func hold(f *os.File) error {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrTaken
	case err != nil:
		return fmt.Errorf("cannot lock %s: %w", f.Name(), err)
	}
	return nil
}

// release does nothing: the lock goes with the file, which no other process has.
func release(*os.File) error { return nil }
