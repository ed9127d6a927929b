package offload

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"epitome/store"
)

// refused is an error of the store, whose text begins with the key.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// ofStore marks err as one that the store has returned.
func ofStore(err error) error {
	if err == nil {
		return nil
	}
	return refused{err}
}

// full returns ErrFull if err says in other words that there is no room, else err's cause.
func full(err error) error {
	if errors.Is(err, store.ErrNoSpace) || diskFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, cause(err))
	}
	return cause(err)
}

func diskFull(err error) bool {
	if runtime.GOOS == "windows" {
		const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
		return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// cause returns err without its path or key: these hold a name.
func cause(err error) error {
	if e := (refused{}); errors.As(err, &e) {
		return cmp.Or(errors.Unwrap(e.error), e.error)
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
