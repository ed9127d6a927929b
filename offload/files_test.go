package offload

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"epitome/store/memory"
)

func TestFilesAreTheOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	folder := filepath.Join(t.TempDir(), "new", "data")
	s := opened(t, options(folder, newClock()))
	name := put(t, s, "content")
	f := func(path string, want fs.FileMode) {
		t.Helper()
		file, err := os.Stat(path)
		if err != nil || file.Mode() != want {
			t.Errorf("%s has %v, %v; want %v", path, file.Mode(), err, want)
		}
	}
	f(folder, fs.ModeDir|0o700)
	f(filepath.Join(folder, "artifacts"), fs.ModeDir|0o700)
	f(filepath.Join(folder, "secret"), 0o600)
	f(fileOf(folder, name), 0o600)
}

func TestFileIsTheContentWhereAddressSays(t *testing.T) {
	folder := t.TempDir()
	s := opened(t, options(folder, newClock()))
	name := put(t, s, "content\n")
	if got, err := os.ReadFile(s.Address(name)); err != nil || string(got) != "content\n" {
		t.Fatalf("%q, %v", got, err)
	}
	if left := listing(t, folder); len(left) != 1 {
		t.Fatalf("there are %q", left)
	}
}

func TestContentOutlivesItsProcess(t *testing.T) {
	c, o := newClock(), options(t.TempDir(), newClock())
	o.Now = c.now
	first := opened(t, o)
	name := put(t, first, "content")
	second := opened(t, o)
	has(t, second, name, "content")
	used(t, second, 7)
	if again := second.Name("tests", []byte("content")); again != name || !second.Touch(name) {
		t.Fatalf("%s is named %s afterwards", name, again)
	}
}

func TestChangedFileIsUnknownUntilPutAgain(t *testing.T) {
	const content = "the content as it was"
	f := func(what string, byStat bool, change func(path string) error) {
		t.Run(what, func(t *testing.T) {
			var log bytes.Buffer
			folder := t.TempDir()
			o := options(folder, newClock())
			o.Log = slog.New(slog.NewTextHandler(&log, nil))
			o.Now = nil // files that someone changes get the time of the system
			o.Store = memory.New(1<<20, time.Now)
			s := opened(t, o)
			name := put(t, s, content)
			has(t, s, name, content)
			if err := change(filepath.Join(folder, "artifacts", name+".txt")); err != nil {
				t.Fatal(err)
			}
			unknown(t, s, name)
			if strings.Contains(log.String(), name) {
				t.Errorf("the log tells the name: %s", &log)
			}
			if byStat {
				if s.Touch(name) {
					t.Error("Touch did not notice")
				}
				put(t, s, content)
				has(t, s, name, content)
				if got := s.Used(); got < int64(len(content)) || what == "edited" && got != int64(len(content)) {
					t.Errorf("%d bytes are used", got)
				}
				if _, _, err := s.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
				used(t, s, int64(len(content)))
			}
		})
	}
	f("truncated", true, func(path string) error { return os.Truncate(path, 3) })
	f("emptied", true, func(path string) error { return os.Truncate(path, 0) })
	f("appended to", true, func(path string) error { return os.WriteFile(path, []byte(content+"."), 0o600) })
	edit := func(path string) error {
		was, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		was[len(was)-1] ^= 1
		return os.WriteFile(path, was, 0o600)
	}
	f("edited", true, edit)
	f("deleted", true, os.Remove)
	f("edited and dated back", false, func(path string) error {
		file, err := os.Stat(path)
		if err == nil {
			err = edit(path)
		}
		return errors.Join(err, os.Chtimes(path, file.ModTime(), file.ModTime()))
	})
	f("a link", true, func(path string) error {
		return errors.Join(os.Remove(path), os.Symlink("../secret", path))
	})
}

func TestLostTimeIsFoundAgain(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	s := opened(t, options(folder, c))
	name := put(t, s, "content")
	file, err := os.Stat(fileOf(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(fileOf(folder, name), c.now(), c.now()); err != nil { // as a copy of the folder has
		t.Fatal(err)
	}
	if n, _, err := s.Sweep(t.Context()); n != 0 || err != nil {
		t.Fatal("swept what lives by its metadata", n, err)
	}
	has(t, s, name, "content")
	if s.Touch(name) {
		t.Fatal("touched what may have been edited")
	}
	put(t, s, "content")
	again, err := os.Stat(fileOf(folder, name))
	if err != nil || !os.SameFile(file, again) || !again.ModTime().Equal(file.ModTime()) || !s.Touch(name) {
		t.Fatalf("its time is %v, %v; want %v, and the same file", again.ModTime(), err, file.ModTime())
	}
}

func TestFolderThatCannotBeUsedIsAnError(t *testing.T) {
	folder := t.TempDir()
	s := opened(t, options(folder, newClock()))
	name := put(t, s, "content")
	artifacts := filepath.Join(folder, "artifacts")
	if err := os.Rename(artifacts, artifacts+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(artifacts, nil, 0o600); err != nil { // no permissions hold the tests of an administrator
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"Put": s.Put(name, []byte("content")), "Put of another": s.Put(name[1:]+"a", []byte("other")),
		"Get": func() error { _, err := s.Get(name); return err }(),
	} {
		if err == nil || errors.Is(err, ErrUnknown) || errors.Is(err, ErrFull) || strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, _, err := s.Sweep(t.Context()); err == nil || s.Touch(name) {
		t.Errorf("Sweep: %v; or touched", err)
	}
	if err := errors.Join(os.Remove(artifacts), os.Rename(artifacts+".moved", artifacts)); err != nil {
		t.Fatal(err)
	}
	has(t, s, name, "content") // nothing was lost meanwhile
}

// Two processes on one folder: the second has a store of its own.
func TestProcessesShareAFolder(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	first, second := opened(t, options(folder, c)), opened(t, options(folder, c))
	brief := options(folder, c)
	brief.Keep = time.Hour
	third := opened(t, brief)
	name := put(t, first, "content")
	c.pass(month / 2)
	for _, other := range []*Shelf{second, third} {
		if n, _, err := other.Sweep(t.Context()); n != 0 || err != nil {
			t.Fatal("another process swept what is live", n, err)
		}
		used(t, other, 7)
		unknown(t, other, name) // it could not tell whether the content is as it was put
		if other.Name("tests", []byte("content")) != name || other.Touch(name) {
			t.Fatal("another process knows more or less than it should")
		}
	}
	put(t, third, "content") // for an hour, which shortens nothing
	has(t, third, name, "content")
	used(t, third, 7)
	c.pass(2 * time.Hour)
	unknown(t, third, name)
	if n, _, err := third.Sweep(t.Context()); n != 0 || err != nil || !first.Touch(name) {
		t.Fatal("the other process swept what is live", n, err)
	}
	c.pass(month)
	has(t, first, name, "content")
	c.pass(month / 8)
	if n, bytes, err := second.Sweep(t.Context()); n != 1 || bytes != 7 || err != nil { // the first may have ended
		t.Fatal("what all have left stays", n, bytes, err)
	}
	if left := listing(t, folder); len(left) != 0 {
		t.Fatalf("there are %q", left)
	}
}
