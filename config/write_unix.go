//go:build unix

package config

import "golang.org/x/sys/unix"

// mayWrite reports why this user may not make files in a folder; nil if that may be done.
func mayWrite(folder string) error { return unix.Access(folder, unix.W_OK|unix.X_OK) }
