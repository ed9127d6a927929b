package offload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"epitome/store"
	"epitome/store/memory"
)

const month = 30 * 24 * time.Hour

// clock is a time that tests move by hand.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.nanos.Store(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time       { return time.Unix(0, c.nanos.Load()) }
func (c *clock) pass(d time.Duration) { c.nanos.Add(int64(d)) }

// options returns those of most tests: a shelf in folder, a store of its own in memory.
func options(folder string, c *clock) Options {
	return Options{Folder: folder, Store: memory.New(64<<20, c.now), Quota: 32 << 20, Keep: month, Address: "path",
		Now: c.now}
}

func opened(t testing.TB, o Options) *Shelf {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// both runs f with a shelf in memory, and with one on disk.
func both(t *testing.T, f func(t *testing.T, s *Shelf, c *clock)) {
	t.Run("Memory", func(t *testing.T) {
		c := newClock()
		f(t, opened(t, options("", c)), c)
	})
	t.Run("Disk", func(t *testing.T) {
		c := newClock()
		f(t, opened(t, options(t.TempDir(), c)), c)
	})
}

// put puts content in a scope of tests and returns its name.
func put(t testing.TB, s *Shelf, content string) string {
	t.Helper()
	name := s.Name("tests", []byte(content))
	if err := s.Put(name, []byte(content)); err != nil {
		t.Fatal(err)
	}
	return name
}

// has checks what is under name, by Get and by Open.
func has(t testing.TB, s *Shelf, name, want string) {
	t.Helper()
	got, err := s.Get(name)
	if err != nil || string(got) != want {
		t.Fatalf("%s has %.40q, %v; want %.40q", name, got, err, want)
	}
	r, size, err := s.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if all, err := io.ReadAll(r); err != nil || string(all) != want || size != int64(len(want)) {
		t.Fatalf("%s is read as %.40q, %d bytes, %v; want %.40q", name, all, size, err, want)
	}
}

func unknown(t testing.TB, s *Shelf, name string) {
	t.Helper()
	if got, err := s.Get(name); err != ErrUnknown {
		t.Fatalf("Get of %q: %.40q, %v; want ErrUnknown", name, got, err)
	}
	if _, _, err := s.Open(name); err != ErrUnknown {
		t.Fatalf("Open of %q: %v; want ErrUnknown", name, err)
	}
}

func used(t testing.TB, s *Shelf, want int64) {
	t.Helper()
	if got := s.Used(); got != want {
		t.Fatalf("%d bytes are used, want %d", got, want)
	}
}

// listing returns every file in the folder of artifacts, hidden ones included.
func listing(t testing.TB, folder string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(folder, "artifacts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func fileOf(folder, name string) string { return filepath.Join(folder, "artifacts", name+".txt") }

func TestContentComesBackAsItWasPut(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, _ *clock) {
		total := int64(0)
		for _, content := range []string{"", "a", "two\nlines\r\n", "\x00\xff\xfe not text",
			strings.Repeat("0123456789", 1<<20)} {
			name := put(t, s, content)
			has(t, s, name, content)
			total += int64(len(content))
			used(t, s, total)
		}
	})
}

func TestNameHasOneContent(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		name := put(t, s, "content")
		for _, other := range []string{"longer content", "CONTENT"} {
			c.pass(2 * month / 3)
			if other == "CONTENT" && s.place.Prolong(name, c.now()) != nil { // so that Put has to look closely
				t.Fatal("cannot make it expire")
			}
			if err := s.Put(name, []byte(other)); !errors.Is(err, errOther) {
				t.Fatalf("put %q over another content: %v", other, err)
			}
			has(t, s, name, "content")
			put(t, s, "content")
		}
	})
}

func TestExpiredIsUnknownUntilPutAgain(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		name := put(t, s, "content")
		c.pass(month)
		has(t, s, name, "content")
		c.pass(month / 8)
		unknown(t, s, name)
		if s.Touch(name) {
			t.Fatal("touched what has expired")
		}
		put(t, s, "content")
		has(t, s, name, "content")
		used(t, s, 7)
		c.pass(month)
		has(t, s, name, "content")
	})
}

func TestTouchedLivesOn(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		name := put(t, s, "content")
		for range 40 {
			c.pass(month / 20) // less than what a touch may leave out, and more
			if !s.Touch(name) {
				t.Fatal("not there")
			}
		}
		c.pass(month)
		has(t, s, name, "content")
		if _, _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		has(t, s, name, "content")
		c.pass(month / 8)
		unknown(t, s, name)
	})
}

func TestWhatIsNoNameIsUnknown(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "outside.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	both := func(s *Shelf) {
		name := put(t, s, "content")
		f := func(name string) {
			t.Helper()
			unknown(t, s, name)
			if s.Touch(name) || s.Address(name) != "" {
				t.Errorf("%q passes for a name", name)
			}
			if err := s.Put(name, []byte("x")); err == nil || errors.Is(err, ErrFull) {
				t.Errorf("put under %q: %v", name, err)
			}
		}
		f("")
		f(".")
		f("../outside")
		f("../secret")
		f(name + "a")
		f(name[1:])
		f(strings.ToUpper(name))
		f(name[:25] + "1")
		f(name[:25] + "\n")
		f(name[:25] + "/")
		f("../artifacts/" + name[:13])
		f("..\\artifacts\\" + name[:13])
		f(strings.Repeat("é", 13))
	}
	both(opened(t, options(folder, newClock())))
	both(opened(t, options("", newClock())))
}

func TestQuotaIsHeld(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, _ *clock) {
		s.budget.quota = 100
		refused := func(put func(string, []byte) error, content string) {
			t.Helper()
			before := s.Used()
			name := s.Name("tests", []byte(content))
			if err := put(name, []byte(content)); !errors.Is(err, ErrFull) {
				t.Fatalf("put %d bytes to %d: %v, want ErrFull", len(content), before, err)
			}
			unknown(t, s, name)
			used(t, s, before)
		}
		first := put(t, s, strings.Repeat("a", 60))
		if s.Full() {
			t.Fatal("full at 60 of 100")
		}
		refused(s.Put, strings.Repeat("b", 41))
		if !s.Full() {
			t.Fatal("not full when something was refused")
		}
		put(t, s, strings.Repeat("c", 40))
		if !s.Full() {
			t.Fatal("not full at 100 of 100")
		}
		refused(s.Put, "d")
		put(t, s, strings.Repeat("a", 60)) // is there
		refused(s.PutBeyond, strings.Repeat("e", 101))
		if beyond := strings.Repeat("f", 100); s.PutBeyond(s.Name("tests", []byte(beyond)), []byte(beyond)) != nil {
			t.Fatal("refused what is within twice the quota")
		}
		refused(s.PutBeyond, "g")
		used(t, s, 200)
		has(t, s, first, strings.Repeat("a", 60))
	})
}

func TestWritersAtTheSameTimeStayWithinTheQuota(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, _ *clock) {
		s.budget.quota = 1000
		var all sync.WaitGroup
		var done atomic.Int64
		for w := range 8 {
			all.Go(func() {
				for n := range 30 {
					content := bytes.Repeat([]byte{byte(w), byte(n)}, 10)
					if s.Put(s.Name("tests", content), content) == nil {
						done.Add(1)
					}
				}
			})
		}
		all.Wait()
		if done.Load() != 50 {
			t.Fatalf("%d of 20 bytes each were put to 1000", done.Load())
		}
		used(t, s, 1000)
	})
}

func TestNothingIsLeftOfAWriteThatFails(t *testing.T) {
	f := func(failure error, wantFull bool) {
		t.Helper()
		folder := t.TempDir()
		s := opened(t, options(folder, newClock()))
		kept := put(t, s, "kept")
		s.place.(*filePlace).save = func(path string, content []byte) error {
			if err := os.WriteFile(path, content[:len(content)/2], 0o600); err != nil {
				t.Error(err)
			}
			return &os.PathError{Op: "write", Path: path, Err: failure}
		}
		name := s.Name("tests", []byte("content"))
		err := s.Put(name, []byte("content"))
		if !errors.Is(err, failure) || errors.Is(err, ErrFull) != wantFull || strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v", failure, err)
		}
		unknown(t, s, name)
		used(t, s, 4)
		if s.budget.reserved != 0 {
			t.Errorf("%d bytes stay reserved", s.budget.reserved)
		}
		if Crowded(s) != wantFull {
			t.Errorf("%v: there is said to be no room: %v", failure, !wantFull)
		}
		if left := listing(t, folder); len(left) != 1 || left[0] != kept+".txt" {
			t.Errorf("there are %q", left)
		}
		if _, found := s.catalogue.find(name); found {
			t.Error("its metadata are there")
		}
		s.place.(*filePlace).save = saveNew
		put(t, s, "content")
		has(t, s, name, "content")
		if Crowded(s) {
			t.Error("there is said to be no room, though the content was written")
		}
	}
	f(syscall.ENOSPC, true)
	f(syscall.EDQUOT, true)
	f(syscall.EIO, false)
	f(syscall.EACCES, false)
}

// refusing is a store that has no room.
type refusing struct {
	Facts
	full atomic.Bool
}

func (r *refusing) Put(key string, value []byte, keep time.Duration) (uint64, error) {
	if r.full.Load() {
		return 0, fmt.Errorf("cannot put fact %q: %w", key, store.ErrNoSpace)
	}
	return r.Facts.Put(key, value, keep)
}

func (r *refusing) Touch(key string, keep time.Duration) (bool, error) {
	if r.full.Load() {
		_, found := r.Facts.Get(key)
		return found, fmt.Errorf("cannot touch fact %q: %w", key, store.ErrNoSpace)
	}
	return r.Facts.Touch(key, keep)
}

func TestStoreWithoutRoomIsAFullShelf(t *testing.T) {
	var log bytes.Buffer
	folder, c := t.TempDir(), newClock()
	o := options(folder, c)
	r := &refusing{Facts: o.Store}
	o.Store, o.Log = r, slog.New(slog.NewTextHandler(&log, nil))
	s := opened(t, o)
	there := put(t, s, "there")
	r.full.Store(true)
	c.pass(month / 2)
	err := s.Put(s.Name("tests", []byte("new")), []byte("new"))
	if !errors.Is(err, ErrFull) || strings.Contains(err.Error(), s.Name("tests", []byte("new"))) {
		t.Fatal(err)
	}
	used(t, s, 5)
	if left := listing(t, folder); len(left) != 1 {
		t.Fatalf("there are %q", left)
	}
	if !s.Touch(there) { // it would not be better off written again
		t.Fatal("what is there passes for gone")
	}
	put(t, s, "there")
	has(t, s, there, "there")
	if text := log.String(); !strings.Contains(text, "cannot prolong the life") || strings.Contains(text, there) {
		t.Errorf("the log says %s", text)
	}
}
