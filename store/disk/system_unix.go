//go:build linux || darwin

package disk

import "syscall"

// freeSpace returns what an ordinary user may still write to the disk that folder is on, in bytes.
func freeSpace(folder string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
