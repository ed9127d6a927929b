package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"epitome/config"
	"epitome/inject"
	"epitome/offload"
	"epitome/store"
	"epitome/store/disk"
	"epitome/store/memory"
	"epitome/store/shared"
)

// storage is where facts and artifacts lie. It is in the data folder, or, as far as that cannot be used, in memory.
type storage struct {
	store   store.Store   // of facts
	local   store.Store   // of this machine; store itself, unless that is shared
	shared  *shared.Store // store, if it is shared; else nil
	shelf   *offload.Shelf
	kept    inject.Files // files for conversations
	where   string       // the folder of artifacts, or their bucket; empty if they are in memory
	passing bool         // not all of it outlives the process
	log     *slog.Logger
	life    context.Context    // of what is done now and again
	stop    context.CancelFunc // ends it
	work    sync.WaitGroup     // what of that runs
}

const (
	passingMemory = 64 << 20      // bytes for decisions when there is no store on disk
	sweepAtMost   = 6 * time.Hour // between two sweeps, and at least
	sweepAtLeast  = 10 * time.Second
	sweepRest     = 2 * time.Second        // from a start to its first sweep, and between the parts of one
	storeWait     = 500 * time.Millisecond // for a command, or for an epitome that ends, to let go of the store
)

// openStorage opens the store and the shelf in the data folder. Without a usable store epitome runs on in memory and
// says so. listen is the address under which artifacts can be asked for. What it returns has to be closed.
func openStorage(conf config.Config, folder, listen string, log *slog.Logger) (*storage, error) {
	s := &storage{log: log}
	if err := config.CheckFormat(folder); err != nil {
		return nil, err
	}
	s.kept = config.Contexts(folder)
	if err := config.MarkFormat(folder); err != nil { // a folder without a mark has the first format
		log.Warn(err.Error(), "do", "see to the folder, or give another one with --data")
	}
	s.openStore(conf, folder)
	err := s.openShelf(conf, folder, listen)
	if err == nil && conf.Store.URL != "" {
		err = s.openShared(conf)
	}
	if err != nil {
		_ = s.local.Close()
		return nil, err
	}
	s.life, s.stop = context.WithCancel(context.Background())
	s.work.Go(func() { s.sweep(s.life, sweepEvery(conf.Store.Keep.D())) })
	return s, nil
}

func (s *storage) openStore(conf config.Config, folder string) {
	disk, err := openDisk(conf, folder, s.log)
	for begun := time.Now(); errors.Is(err, store.ErrInUse) && time.Since(begun) < storeWait; {
		time.Sleep(storeWait / 10)
		disk, err = openDisk(conf, folder, s.log)
	}
	if err == nil {
		s.store, s.local = disk, disk
		if notice := disk.Notice(); notice != "" {
			s.log.Warn(notice)
		}
		return
	}
	s.passing, s.local = true, memory.New(passingMemory, time.Now)
	if s.store = s.local; conf.Store.URL != "" { // it has what can be found out again
		s.log.Warn("what this machine knows of artifacts is kept in memory until epitome ends",
			"why", err.Error(), "do", storeAdvice(err))
		return
	}
	s.log.Warn("decisions are kept in memory until epitome ends, so conversations stay whole until their window fills",
		"why", err.Error(), "do", storeAdvice(err))
}

// openDisk opens the store in the data folder, which no other process may hold.
func openDisk(conf config.Config, folder string, log *slog.Logger) (*disk.Store, error) {
	return disk.Open(disk.Options{
		Folder: filepath.Join(folder, StoreFolder), SyncEvery: conf.Store.SyncEvery.D(), Log: log,
		Fault: func(err error) { log.Warn("a decision could not be read", "error", err.Error()) },
	})
}

// The folders in the data folder.
const (
	StoreFolder    = "store"
	ArtifactFolder = "artifacts"
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

// openShelf opens the shelf. Memory stands in for a data folder that cannot be used, but not for a shared folder or a
// bucket, as other epitomes would miss what lay in memory.
func (s *storage) openShelf(conf config.Config, folder, listen string) error {
	o, err := shelfOptions(conf, listen, s.log)
	if err != nil {
		return err
	}
	if s.where = conf.Offload.Bucket; s.where != "" {
		if s.shelf, err = offload.OpenBucket(s.where, o); err != nil {
			return fmt.Errorf("cannot use offload.bucket: %w; with offload.secret_file epitome starts without it", err)
		}
		return nil
	}
	data := shelfFolder(conf, folder)
	if s.shelf, err = offload.OpenFolder(data, o); err == nil {
		s.where = filepath.Join(data, ArtifactFolder)
		return nil
	}
	if conf.Store.URL != "" {
		return fmt.Errorf("cannot use offload.folder: %w", err)
	}
	s.passing = true
	s.log.Warn("what is taken out of conversations is kept in memory until epitome ends, so they stay whole until their window fills",
		"why", err.Error(), "do", "see to the folder, or give another one with --data")
	o.Quota = min(o.Quota, passingMemory)
	s.shelf, err = offload.OpenMemory(o)
	return err
}

// shelfOptions are those of the shelf of an epitome that listens at an address.
func shelfOptions(conf config.Config, listen string, log *slog.Logger) (offload.Options, error) {
	secret, err := conf.Offload.ReadSecret()
	return offload.Options{
		Quota: int64(conf.Offload.Quota), Keep: conf.Store.Keep.D(), Secret: secret,
		Address: conf.Offload.Place(), URL: conf.ArtifactsAt(listen), Log: log,
	}, err
}

// shelfFolder is the data folder in which artifacts lie, or the one that several epitomes share.
func shelfFolder(conf config.Config, folder string) string {
	if conf.Store.URL != "" {
		return conf.Offload.Folder
	}
	return folder
}

// openShared opens the store that others share. That its server does not answer is no error.
func (s *storage) openShared(conf config.Config) (err error) {
	s.shared, err = shared.Open(shared.Options{
		Server: conf.Store.Server(), Prefix: conf.Store.Prefix, Timeout: conf.Store.Timeout.D(), Log: s.log,
		// with another secret artifacts and scopes have other names
		Mark: s.shelf.NameOf("the mark of a shared store", ""),
	})
	if err != nil {
		return fmt.Errorf("cannot use store.url: %w", err)
	}
	s.store, s.passing = s.shared, false
	return nil
}

// sweepEvery is how long what has expired may stay: an eighth of the time for which it was kept.
func sweepEvery(keep time.Duration) time.Duration { return max(sweepAtLeast, min(sweepAtMost, keep/8)) }

// sweep takes away what has expired, now and again. It leaves the start to the first requests.
func (s *storage) sweep(ctx context.Context, every time.Duration) {
	for rest := sweepRest; waited(ctx, rest); rest = every {
		if s.isMyTurn(every) {
			s.sweepShelf(ctx)
		}
		s.sweepStore(ctx, sweepRest)
	}
}

// waited waits. It returns false if ctx ended meanwhile.
func waited(ctx context.Context, rest time.Duration) bool {
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// sweepKey is the key of whose turn it was to sweep.
const sweepKey = "sweep"

// isMyTurn reports whether it is this process that sweeps what several share.
func (s *storage) isMyTurn(every time.Duration) bool {
	if s.shared == nil {
		return true
	}
	_, won, err := s.shared.PutIfAbsent(sweepKey, []byte{1}, every-every/16)
	return won && err == nil
}

// sweepShelf deletes artifacts that have expired.
func (s *storage) sweepShelf(ctx context.Context) {
	swept, err := s.shelf.Sweep(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Warn(err.Error())
	case swept.Files > 0:
		s.log.Info("swept artifacts", "files", swept.Files, "bytes", swept.Bytes)
	}
}

// sweepStore deletes decisions that have expired, where they are on disk. Each part of it is bounded, and a rest
// follows each, so that requests have the disk.
func (s *storage) sweepStore(ctx context.Context, rest time.Duration) {
	d, ok := s.local.(*disk.Store)
	if !ok {
		return
	}
	gone := 0
	for more := true; more; {
		swept, err := d.Sweep(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("cannot sweep the store of decisions", "error", err.Error())
		}
		gone += swept.Gone
		more = err == nil && swept.More && waited(ctx, rest)
	}
	if gone > 0 && ctx.Err() == nil {
		s.log.Info("swept the store of decisions", "decisions", gone)
	}
}

// close ends the sweeps before it closes the store.
func (s *storage) close() {
	s.stop()
	s.shelf.Close()
	s.work.Wait()
	err := error(nil)
	if s.shared != nil {
		err = s.shared.Close()
	}
	if err = errors.Join(err, s.local.Close()); err != nil {
		s.log.Error("cannot close the store", "error", err.Error())
	}
}
