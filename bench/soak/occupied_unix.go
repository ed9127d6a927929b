//go:build unix

package soak

import (
	"io/fs"
	"syscall"
)

// occupied is how many bytes of the disk a file has; less than its size where it has holes.
func occupied(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}
