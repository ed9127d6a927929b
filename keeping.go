package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"epitome/offload"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/store"
	"epitome/store/disk"
	"epitome/store/memory"
	"epitome/tokenize"
	"epitome/window"
)

// keeping is where decisions and artifacts lie, and the shapers over them.
type keeping struct {
	store      store.Store
	shelf      *offload.Shelf
	where      string // the folder of artifacts; empty if they are in memory
	passing    bool   // not all of it outlives the process
	windows    atomic.Pointer[window.Windows]
	lessons    *window.Lessons // outlive the windows, which are made anew with the configuration
	ratios     *tokenize.Ratios
	live       *rewrite.Shaper
	shadow     *rewrite.Shaper // sees what is live and writes nothing there
	summariser *summariser     // of live; nobody can be asked until it has a proxy
	prober     *prober         // likewise
	byHand     func() *rewrite.Shaper
	relay      relay
	log        *slog.Logger
	stop       context.CancelFunc
	swept      chan struct{} // closed when no sweep runs any more
}

const (
	passingMemory = 64 << 20 // bytes for decisions when there is no store on disk
	shadowMemory  = 16 << 20 // bytes for decisions that are only looked at
	sweepEvery    = 6 * time.Hour
	summariesWait = 5 * time.Second        // for summaries to end that are being made
	storeWait     = 500 * time.Millisecond // for a command, or for an epitome that ends, to let go of the store
)

// openKeeping opens the store and the shelf in the data folder. Without a usable store epitome runs on in memory and says so.
// What it returns has to be closed.
func openKeeping(conf Config, folder, listen string, log *slog.Logger) (*keeping, error) {
	k := &keeping{log: log, swept: make(chan struct{})}
	k.openStore(conf, folder)
	if err := k.openShelf(conf, folder, listen); err != nil {
		_ = k.store.Close()
		return nil, err
	}
	k.lessons = window.NewLessons(lessonKeeper{k.store}, time.Now)
	k.windows.Store(window.New(conf.Window, k.lessons))
	k.ratios = tokenize.NewRatios(lessonKeeper{k.store}, tokenize.NewModels())
	k.prober = newProber(conf, k)
	k.shapers(conf)
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	go k.sweep(ctx)
	return k, nil
}

func (k *keeping) openStore(conf Config, folder string) {
	disk, err := openDisk(conf, folder, k.log)
	for begun := time.Now(); errors.Is(err, store.ErrInUse) && time.Since(begun) < storeWait; {
		time.Sleep(storeWait / 10)
		disk, err = openDisk(conf, folder, k.log)
	}
	if err == nil {
		k.store = disk
		if notice := disk.Notice(); notice != "" {
			k.log.Warn(notice)
		}
		return
	}
	k.passing, k.store = true, memory.New(passingMemory, time.Now)
	k.log.Warn("decisions are kept in memory until epitome ends, so conversations stay whole until their window fills",
		"why", err.Error(), "do", storeAdvice(err))
}

// openDisk opens the store in the data folder, which no other process may hold.
func openDisk(conf Config, folder string, log *slog.Logger) (*disk.Store, error) {
	return disk.Open(disk.Options{
		Folder: filepath.Join(folder, storeFolder), SyncEvery: conf.Store.SyncEvery.D(), Log: log,
		Fault: func(err error) { log.Warn("a decision could not be read", "error", err.Error()) },
	})
}

// The folders in the data folder.
const (
	storeFolder    = "store"
	artifactFolder = "artifacts"
)

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
		k.where = filepath.Join(folder, artifactFolder)
		return nil
	}
	k.passing = true
	k.log.Warn("what is taken out of conversations is kept in memory until epitome ends, so they stay whole until their window fills",
		"why", err.Error(), "do", "see to the folder, or give another one with --data")
	o.Folder = ""
	k.shelf, err = offload.Open(o)
	return err
}

// shapers makes the one that serves and the one that is only asked what it would do.
func (k *keeping) shapers(conf Config) {
	keep := conf.Store.Keep.D()
	m := means(k.store, k.shelf, &k.windows, keep)
	m.Passing, m.Ratio = k.passing, k.ratios.Of
	k.summariser = newSummariser(conf, k, m.Counters)
	m.Summariser = k.summariser
	k.shadow = rewrite.NewShaper(shadowed(m, keep))
	k.byHand = func() *rewrite.Shaper { return rewrite.NewShaper(handled(m, keep)) }
	live := m // a copy: the others tell nobody, and have nobody asked
	live.Tell, live.Window = &k.relay, k.prober.watching(m.Window)
	k.live = rewrite.NewShaper(live)
}

// configure puts another configuration in force, but for what is fixed at start.
func (k *keeping) configure(conf Config) {
	k.windows.Store(window.New(conf.Window, k.lessons))
	k.summariser.configure(conf)
	k.prober.configure(conf)
}

// through says by which proxy upstreams are asked from now on.
func (k *keeping) through(p *proxy.Proxy) {
	k.summariser.proxy.Store(p)
	k.prober.proxy.Store(p)
}

// plug adds to p what becomes of conversations. Scopes are named by hashes that are keyed with the shelf's secret.
func (k *keeping) plug(p proxy.Plugs) proxy.Plugs {
	p.Shape, p.Observe, p.Lessons, p.Ratios = k.live.Shape, k.shadow.Shape, k.lessons, k.ratios
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

// close ends what runs before it closes the store: jobs may still put into it what was paid for.
func (k *keeping) close() {
	k.prober.close()
	ctx, cancel := context.WithTimeout(context.Background(), summariesWait)
	defer cancel()
	if err := k.summariser.Close(ctx); err != nil {
		k.log.Warn("a summary does not end", "error", err.Error())
	}
	k.stop()
	<-k.swept
	if err := k.store.Close(); err != nil {
		k.log.Error("cannot close the store", "error", err.Error())
	}
}
