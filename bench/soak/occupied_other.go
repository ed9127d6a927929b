//go:build !unix

package soak

import "io/fs"

// occupied is the size of a file.
func occupied(info fs.FileInfo) int64 { return info.Size() }
