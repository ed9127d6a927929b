package lock_test

import (
	"errors"
	"path/filepath"
	"testing"

	"epitome/store/lock"
)

func TestOnlyOneHasTheLockUntilItIsGivenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := lock.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Take(path); !errors.Is(err, lock.ErrTaken) {
		t.Fatalf("a second one got %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = lock.Take(path); err != nil {
		t.Fatalf("given back, it cannot be taken: %v", err)
	}
	_ = f.Close()
}

func TestALockNeedsAFolder(t *testing.T) {
	if _, err := lock.Take(filepath.Join(t.TempDir(), "missing", "lock")); err == nil || errors.Is(err, lock.ErrTaken) {
		t.Fatalf("without a folder: %v", err)
	}
}
