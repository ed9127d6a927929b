//go:build !windows

package store

import "syscall"

// freeSpace returns the bytes that an ordinary user may still write to the disk of a folder.
func freeSpace(folder string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // types differ between systems
}
