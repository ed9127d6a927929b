//go:build linux || darwin

package disk

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"epitome/store"
)

// freeSpace returns what an ordinary user may still write to the disk that folder is on, in bytes.
func freeSpace(folder string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// holdLock takes the lock that the open file stands for, or returns store.ErrInUse. It ends with the file, or the
// process.
func holdLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, store.ErrInUse
	}
	return nil, fmt.Errorf("cannot lock %s: %w", path, err)
}
