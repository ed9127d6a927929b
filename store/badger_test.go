package store

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/internal/fakeapi"
)

const month = 30 * 24 * time.Hour

var silent = slog.New(slog.DiscardHandler)

// The test binary is its own child: one process opens a store once, and a damaged one may end it.
const (
	childEnv  = "EPITOME_STORE_CHILD" // what the child does
	folderEnv = "EPITOME_STORE_FOLDER"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		_ = flag.Set("test.parallel", "16") // most tests wait
		os.Exit(m.Run())
	case "open":
		b, err := OpenBadger(os.Getenv(folderEnv), slog.New(slog.NewTextHandler(os.Stdout, nil)))
		if err == nil {
			for i := range manyFacts {
				key := fmt.Sprintf("fact %06d", i)
				if value, _ := Get(b, key); value != nil && string(value) != expected(key) {
					fmt.Println("wrong value under", key)
				}
			}
			err = errors.Join(setFact(b, "new", "x"), b.Close())
		}
		fmt.Println("ended", err)
	}
}

const manyFacts = 500 // of the store that is damaged

// setFact sets a fact that was not there.
func setFact(b *Badger, key, value string) error {
	standing, err := b.Swap(key, nil, []byte(value), month)
	if err == nil && string(standing) != value {
		err = fmt.Errorf("%.50q stands under %s", standing, key)
	}
	return err
}

func child(what, folder string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what, folderEnv+"="+folder)
	return cmd
}

// reopened returns the store in a folder, which the end of the test closes.
func reopened(t testing.TB, folder string) *Badger {
	t.Helper()
	b, err := OpenBadger(folder, silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// expected returns the value under a key of the damaged store: up to 4 KB, made from the key alone.
func expected(key string) string {
	size := 0
	for _, c := range key {
		size = (size*31 + int(c)) % 4096
	}
	return strings.Repeat(key+"#", 1+size/len(key))
}

func TestSecondOpenIsRefused(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	b := reopened(t, folder)
	if err := setFact(b, "a", "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBadger(folder, silent); !errors.Is(err, ErrInUse) {
		t.Fatalf("a second open: %v; want %v", err, ErrInUse)
	}
	if out, err := child("open", folder).Output(); err != nil || !strings.Contains(string(out), ErrInUse.Error()) {
		t.Fatalf("another process: %v, %q; want %v", err, out, ErrInUse)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if value, err := Get(reopened(t, folder), "a"); string(value) != "one" || err != nil {
		t.Fatalf("%q, %v", value, err)
	}
	if aside, _ := filepath.Glob(folder + ".bad-*"); len(aside) > 0 {
		t.Fatalf("%q was moved aside", aside)
	}
}

// A full disk refuses writes and is read all the same, until room is made.
func TestFullDiskIsAnError(t *testing.T) {
	b := reopened(t, filepath.Join(t.TempDir(), "store"))
	if err := setFact(b, "a", "one"); err != nil {
		t.Fatal(err)
	}
	space := func(free uint64) { b.free = func(string) (uint64, error) { return free, nil } }
	space(reserve - 1)
	for i, err := range []error{setFact(b, "b", "x"), b.Touch("a", 2*month)} {
		if !errors.Is(err, ErrNoSpace) || b.State() != "full" {
			t.Errorf("write %d: %v; want %v", i, err, ErrNoSpace)
		}
	}
	if value, err := Get(b, "a"); string(value) != "one" || err != nil {
		t.Fatalf("%q, %v", value, err)
	}
	space(reserve)
	if err := setFact(b, "b", "two"); err != nil || b.State() != "" {
		t.Fatal(err)
	}
	if err := os.RemoveAll(b.folder); err != nil {
		t.Fatal(err)
	}
	if b.free = freeSpace; b.State() != "missing" {
		t.Errorf("of a folder that was deleted the state is %q", b.State())
	}
}

// An error of the disk in a table that is mapped into memory fails the store. Without more it would end the process.
func TestDiskErrorFailsTheStoreAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	b := reopened(t, folder)
	if err := errors.Join(setFact(b, "a", strings.Repeat("one ", 9999)), b.Close()); err != nil {
		t.Fatal(err)
	}
	b = reopened(t, folder)
	tables, _ := filepath.Glob(filepath.Join(folder, "*.sst"))
	if len(tables) == 0 {
		t.Fatal("there is no table")
	}
	for _, name := range tables {
		if err := os.Truncate(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	if value, err := Get(b, "a"); !errors.Is(err, ErrFailed) {
		t.Errorf("got %d bytes, %v; want %v", len(value), err, ErrFailed)
	}
	if err := setFact(b, "b", "two"); !errors.Is(err, ErrFailed) || b.State() != "failed" {
		t.Errorf("%v, want %v", err, ErrFailed)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedStoreIsReplaced damages each kind of file in a store, and opens it in a process of its own. The store is
// usable at once, and what it has is right.
func TestDamagedStoreIsReplaced(t *testing.T) {
	if testing.Short() {
		fakeapi.Skip(t, "it starts many processes")
	}
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "store")
	b := reopened(t, folder)
	for i := range manyFacts {
		key := fmt.Sprintf("fact %06d", i)
		if err := setFact(b, key, expected(key)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	const halfWritten = "000900.sst" // a table of a process that was killed as it wrote: none may pile up on the disk
	f := func(pattern string, spoil func(content []byte) []byte) {
		t.Helper()
		damaged := filepath.Join(t.TempDir(), "agents [old]", "store") // a pattern, if the path were one
		if err := os.CopyFS(damaged, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		names, err := fs.Glob(os.DirFS(damaged), pattern)
		if err != nil || len(names) == 0 && pattern != halfWritten {
			t.Fatal(pattern, err)
		}
		name := filepath.Join(damaged, append(names, halfWritten)[0])
		content, _ := os.ReadFile(name) // none of the half-written one
		if content = spoil(content); content == nil {
			err = errors.Join(err, os.Remove(name))
		} else {
			err = errors.Join(err, os.WriteFile(name, content, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := child("open", damaged).CombinedOutput()
		if said := string(out); err != nil || !strings.Contains(said, "ended <nil>") || strings.Contains(said, "wrong") {
			t.Errorf("%s: the start cannot use it: %v\n%.3000s", pattern, err, said)
		}
		if left, _ := fs.Glob(os.DirFS(damaged), "*.damaged"); len(left) > 0 {
			t.Errorf("%s: left are %q", pattern, left)
		}
	}
	flip := func(content []byte) []byte { content[len(content)/3] ^= 0x55; return content }
	f("*.sst", flip)
	f("*.sst", func(content []byte) []byte { return content[:len(content)/3] })
	f("*.sst", func([]byte) []byte { return nil })
	random := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		f("*.sst", func(content []byte) []byte {
			for at := random.IntN(len(content)); at < len(content) && at%64 != 0; at++ {
				content[at] = byte(random.Uint32())
			}
			return content
		})
	}
	f("*.sst", func(content []byte) []byte { // its footer
		for at := range 16 {
			content[len(content)-1-at] = byte(random.Uint32())
		}
		return content
	})
	f(halfWritten, func([]byte) []byte { return make([]byte, 1<<20) })
	f("MANIFEST", flip)
	f("MANIFEST", func([]byte) []byte { return nil })
	f("*.vlog", func([]byte) []byte { return []byte{} })
}
