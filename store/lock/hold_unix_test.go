//go:build linux || darwin

package lock

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A program that is being started has the file open too, until it runs.
func TestALockThatIsGivenBackIsFreeWhoeverHasTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := syscall.Dup(int(held.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(other) }()
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if held, err = Take(path); err != nil {
		t.Fatalf("given back, it cannot be taken: %v", err)
	}
	_ = held.Close()
}
