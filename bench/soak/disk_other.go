//go:build !linux

package soak

import "errors"

// fill would fill the disk, which nothing here can do to one process.
func fill(int, uint64) error { return errors.New("a full disk can be played on Linux alone") }
