package journal

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// limitFiles lets no file of this process grow beyond so many bytes; the function that it returns takes that back.
func limitFiles(t *testing.T, bytes uint64) (free func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
	}
}

// Who reads the files line by line finds no half of a line behind a disk that was full for a while.
func TestAFullDiskLeavesNoTornLine(t *testing.T) {
	d := sit(t, t.TempDir(), 1<<20)
	d.Append([]byte("one"))
	d.Flush()
	free := limitFiles(t, 10)
	d.Append([]byte("two"))
	d.Append([]byte("three"))
	d.Flush()
	free()
	path := filepath.Join(d.folder.o.Folder, "2026-11-20.jsonl")
	if held, err := os.ReadFile(path); err != nil || string(held) != "one\ntwo\n" {
		t.Errorf("while there is no room, the file has %q, %v", held, err)
	}
	d.now = d.now.Add(time.Minute)
	d.Flush()
	if held, err := os.ReadFile(path); err != nil || string(held) != "one\ntwo\nthree\n" {
		t.Errorf("afterwards the file has %q, %v", held, err)
	}
	if at := d.Position(); at.Offset != int64(len("one\ntwo\nthree\n")) {
		t.Errorf("it has come to %v", at)
	}
}
