package daemon

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"epitome/offload"
	"epitome/store"
	"epitome/store/memory"
)

// crowded are facts on a disk that may be full.
type crowded struct {
	store.Store
	full atomic.Bool
}

func (c *crowded) Put(key string, value []byte, keep time.Duration) (uint64, error) {
	if c.full.Load() {
		return 0, store.ErrNoSpace
	}
	return c.Store.Put(key, value, keep)
}

// A full disk is told to who asks whether epitome is ready, and to readers of figures, until something is written.
func TestAFullDiskIsTold(t *testing.T) {
	facts := &crowded{Store: memory.New(1<<20, time.Now)}
	shelf, err := offload.Open(offload.Options{Folder: t.TempDir(), Store: facts, Quota: 1 << 20, Keep: time.Hour,
		Address: "path", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &storage{shelf: shelf, local: facts}
	put := func(content string, want error) {
		t.Helper()
		if err := shelf.Put(shelf.Name("s", []byte(content)), []byte(content)); !errors.Is(err, want) {
			t.Fatal(err)
		}
	}
	told := func(full bool) {
		t.Helper()
		state, notes := s.parts()[roomPart], s.troubles()
		if full != (state == "full") || full == s.keeps() || full != (len(notes) == 1 && strings.Contains(notes[0], "the disk has no room")) {
			t.Errorf("full is %v, and it is told %q, %q", full, state, notes)
		}
	}
	told(false)
	facts.full.Store(true)
	put("one", offload.ErrFull)
	told(true)
	facts.full.Store(false)
	put("two", nil)
	told(false)
}
