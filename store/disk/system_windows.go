package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"

	"epitome/store"
)

// freeSpace returns what this user may still write to the disk that folder is on, in bytes.
func freeSpace(folder string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// holdLock takes the lock that the open file stands for, or returns store.ErrInUse. It ends with the file, or the
// process.
func holdLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return nil, store.ErrInUse
	}
	return nil, fmt.Errorf("cannot lock %s: %w", path, err)
}
