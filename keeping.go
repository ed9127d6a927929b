package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"epitome/offload"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/store"
	"epitome/window"
)

// keeping is where decisions and artifacts lie, and the shapers over them.
type keeping struct {
	store   store.Store
	shelf   *offload.Shelf
	windows atomic.Pointer[window.Windows]
	live    *rewrite.Shaper
	shadow  *rewrite.Shaper // sees what is live and writes nothing there
	log     *slog.Logger
	stop    context.CancelFunc
	swept   chan struct{} // closed when no sweep runs any more
}

const (
	passingMemory = 64 << 20 // bytes for decisions when there is no store on disk
	shadowMemory  = 16 << 20 // bytes for decisions that are only looked at
	sweepEvery    = 6 * time.Hour
)

// openKeeping opens the store and the shelf in the data folder. Without a usable store epitome runs on in memory and says so.
func openKeeping(conf Config, folder, listen string, log *slog.Logger) (*keeping, error) {
	k := &keeping{log: log, swept: make(chan struct{})}
	passing := false
	disk, err := store.Open(store.Options{
		Folder: filepath.Join(folder, "store"), SyncEvery: conf.Store.SyncEvery.D(), Log: log,
		Fault: func(err error) { log.Warn("a decision could not be read", "error", err.Error()) },
	})
	if err == nil {
		k.store = disk
		if notice := disk.Notice(); notice != "" {
			log.Warn(notice)
		}
	} else {
		passing, k.store = true, store.NewMemory(passingMemory, time.Now)
		log.Warn("decisions are kept in memory until epitome ends, so conversations stay whole until their window fills", "why", err.Error(), "do", storeAdvice(err))
	}
	if err := k.openShelf(conf, folder, listen); err != nil {
		_ = k.store.Close()
		return nil, err
	}
	k.windows.Store(window.New(conf.Window))
	k.shapers(conf.Store.Keep.D(), passing)
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	go k.sweep(ctx)
	return k, nil
}

func storeAdvice(err error) string {
	switch {
	case errors.Is(err, store.ErrInUse):
		return "stop the other epitome, or give this one a folder of its own with --data"
	case errors.Is(err, store.ErrNoSpace):
		return "make room on the disk, or give another folder with --data"
	}
	return "see to the folder, or give another one with --data"
}

func (k *keeping) openShelf(conf Config, folder, listen string) error {
	o := offload.Options{
		Folder: folder, Store: k.store, Quota: int64(conf.Offload.Quota), Keep: conf.Store.Keep.D(), Address: conf.Offload.Address,
		URL: "http://" + reachable(listen) + "/-/artifacts/", Log: k.log,
	}
	var err error
	if k.shelf, err = offload.Open(o); err == nil {
		return nil
	}
	k.log.Warn("what is taken out of conversations is kept in memory until epitome ends", "why", err.Error())
	o.Folder = ""
	k.shelf, err = offload.Open(o)
	return err
}

// shapers makes the one that serves and the one that is only asked what it would do.
func (k *keeping) shapers(keep time.Duration, passing bool) {
	m := means(k.store, k.shelf, &k.windows, keep)
	m.Passing = passing
	k.live = rewrite.NewShaper(m)
	m.Ledger = &shadowLedger{Ledger: m.Ledger, notes: newLedger(store.NewMemory(shadowMemory, time.Now), func() time.Duration { return keep })}
	m.Shelf = shadowShelf{m.Shelf}
	k.shadow = rewrite.NewShaper(m)
}

// plug adds to p what becomes of conversations. Scopes are named by hashes that are keyed with the shelf's secret.
func (k *keeping) plug(p proxy.Plugs) proxy.Plugs {
	p.Shape, p.Observe = k.live.Shape, k.shadow.Shape
	p.Scope = func(kind, value string) string { return k.shelf.Name("scope "+kind, []byte(value)) }
	return p
}

// sweep takes away what has expired, now and again.
func (k *keeping) sweep(ctx context.Context) {
	defer close(k.swept)
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		n, bytes, err := k.shelf.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			k.log.Warn("cannot sweep the shelf of artifacts", "error", err.Error())
		case n > 0:
			k.log.Info("swept the shelf of artifacts", "artifacts", n, "bytes", bytes)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (k *keeping) close() {
	k.stop()
	<-k.swept
	if err := k.store.Close(); err != nil {
		k.log.Error("cannot close the store", "error", err.Error())
	}
}

// shadowLedger reads what is live, and writes beside it.
type shadowLedger struct {
	rewrite.Ledger
	notes *ledger
}

// Get prefers what is live.
func (s *shadowLedger) Get(key string) (value []byte, version uint64, found bool) {
	if value, version, found = s.Ledger.Get(key); found {
		return value, version, found
	}
	return s.notes.Get(key)
}

// Add writes beside what is live.
func (s *shadowLedger) Add(key string, value []byte) (standing []byte, version uint64, err error) {
	if value, version, found := s.Ledger.Get(key); found {
		return value, version, nil
	}
	return s.notes.Add(key, value)
}

// Swap writes beside what is live, which stays as it is.
func (s *shadowLedger) Swap(key string, old uint64, value []byte) (standing []byte, version uint64, swapped bool, err error) {
	if _, _, found := s.notes.Get(key); found {
		return s.notes.Swap(key, old, value)
	}
	standing, version, err = s.notes.Add(key, value)
	return standing, version, err == nil, err
}

// Touch leaves everything as it is.
func (s *shadowLedger) Touch(string) bool { return false }

// shadowShelf names what would be put there, and keeps nothing.
type shadowShelf struct{ rewrite.Shelf }

// Put keeps nothing.
func (shadowShelf) Put(string, []byte, bool) error { return nil }

// Touch pretends that all is there.
func (shadowShelf) Touch(string) bool { return true }

// errNoArtifact says that there is nothing under a name.
var errNoArtifact = errors.New("there is no such artifact, or it has expired")

// artifact opens what was taken out, for whoever has its name.
func (k *keeping) artifact(name string) ([]byte, error) {
	content, err := k.shelf.Get(name)
	if errors.Is(err, offload.ErrUnknown) {
		return nil, errNoArtifact
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read artifact: %w", err)
	}
	return content, nil
}
