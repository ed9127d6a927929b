package soak

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fill lets the process write no file beyond so many bytes, as if the disk were full; 0 takes that back.
func fill(pid int, bytes uint64) error {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		return fmt.Errorf("cannot read what epitome may write: %w", err)
	}
	if limit.Cur = bytes; bytes == 0 {
		limit.Cur = limit.Max
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		return fmt.Errorf("cannot limit what epitome may write: %w", err)
	}
	return nil
}
