//go:build linux || darwin

package offload

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// Whoever opens a pipe for reading waits until someone writes.
func TestPipeUnderANameIsNothing(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	s := opened(t, options(folder, c))
	name := put(t, s, "")
	path, until := fileOf(folder, name), s.until()
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600), os.Chtimes(path, until, until)); err != nil {
		t.Fatal(err)
	}
	unknown(t, s, name)
	if s.Touch(name) {
		t.Fatal("touched a pipe")
	}
	if _, _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, s, "")
	has(t, s, name, "")
}
