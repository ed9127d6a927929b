//go:build !linux && !darwin && !windows

package disk

import (
	"math"
	"os"
)

// freeSpace knows nothing here: Options.Free can be set to something that does.
func freeSpace(string) (uint64, error) { return math.MaxUint64, nil }

// holdLock leaves the locking to Badger here.
func holdLock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }
