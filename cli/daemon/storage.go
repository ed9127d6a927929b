package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"epitome/config"
	"epitome/offload"
	"epitome/store"
)

// storage is where facts and artifacts lie. It is in the data folder, or, as far as that cannot be used, in memory.
type storage struct {
	store   store.Store   // of facts
	disk    *store.Badger // store, if it is in the data folder; else nil
	shared  *store.Redis  // store, if it is shared; else nil
	shelf   *offload.Shelf
	where   string // the folder of artifacts, or their bucket; empty if they are in memory
	passing bool   // not all of it outlives the process
	log     *slog.Logger
	sweeps  sync.WaitGroup
	stop    context.CancelFunc // ends sweeps
}

const (
	passingMemory = 64 << 20        // bytes for decisions when there is no store on disk
	sweepRest     = 2 * time.Second // from a start to its first sweep
	storeWait     = 500 * time.Millisecond
)

// openStorage opens the store and the shelf in the data folder. Without a usable store epitome runs on in memory and
// says so. listen is the address under which artifacts can be asked for. What it returns has to be closed.
func openStorage(conf config.Config, folder, listen string, log *slog.Logger) (*storage, error) {
	s := &storage{log: log}
	if err := s.openShelf(conf, folder, listen); err != nil {
		return nil, err
	}
	if conf.Store.URL == "" {
		s.openStore(folder)
	} else if err := s.openShared(conf); err != nil {
		s.shelf.Close()
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.sweeps.Go(func() { s.sweep(life) })
	return s, nil
}

// openStore opens the store in the data folder. Memory stands in for one that cannot be used. It waits a moment for an
// epitome that ends to let go of the store.
func (s *storage) openStore(folder string) {
	path := filepath.Join(folder, StoreFolder)
	disk, err := store.OpenBadger(path, s.log)
	for begun := time.Now(); errors.Is(err, store.ErrInUse) && time.Since(begun) < storeWait; {
		time.Sleep(storeWait / 10)
		disk, err = store.OpenBadger(path, s.log)
	}
	if err == nil {
		s.store, s.disk = disk, disk
		return
	}
	s.passing, s.store = true, store.NewMemory(passingMemory)
	s.log.Warn("decisions are kept in memory until epitome ends, so conversations stay whole until their window fills",
		"why", err.Error(), "do", "make sure that the folder can be written and is used by no other epitome, or give another "+
			"one with --data")
}

// The folders in the data folder.
const (
	StoreFolder    = "store"
	ArtifactFolder = "artifacts"
	EventFolder    = "events"
)

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

// OpenArtifacts opens the artifacts of a data folder, whether an epitome runs with it or not. The error is
// offload.ErrUnknown if there are none.
func OpenArtifacts(conf config.Config, folder string) (*offload.Shelf, error) {
	o, err := shelfOptions(conf, conf.Listen, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if conf.Offload.Bucket != "" {
		return offload.OpenBucket(conf.Offload.Bucket, o)
	}
	folder = shelfFolder(conf, folder)
	if _, err := os.Stat(filepath.Join(folder, ArtifactFolder)); err != nil {
		return nil, offload.ErrUnknown
	}
	return offload.OpenFolder(folder, o)
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

// openShared opens the store that others share. That its server does not answer is no error, but that the others have
// another secret is one: their artifacts and scopes have other names, so nothing could be shared.
func (s *storage) openShared(conf config.Config) (err error) {
	if s.shared, err = store.OpenRedis(conf.Store.URL, conf.Store.CA, s.log); err != nil {
		return fmt.Errorf("cannot use store.url: %w", err)
	}
	const century = 100 * 365 * 24 * time.Hour
	mark := []byte(s.shelf.NameOf("the mark of a shared store", ""))
	if standing, err := s.shared.Swap("mark", nil, mark, century); err == nil && !bytes.Equal(standing, mark) {
		_ = s.shared.Close()
		return errors.New("cannot use store.url: the others that use it have another secret; give all of them the same, " +
			"or another database")
	}
	s.store = s.shared
	return nil
}

// sweep deletes expired artifacts soon after the start, and then every hour, until ctx ends.
func (s *storage) sweep(ctx context.Context) {
	for rest := sweepRest; ; rest = time.Hour {
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
		swept, err := s.shelf.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.log.Warn(err.Error())
		case swept.Files > 0:
			s.log.Info("swept artifacts", "files", swept.Files, "bytes", swept.Bytes)
		}
	}
}

// close closes everything. The shelf is closed before the sweeps are waited for, as that ends their calls to a bucket.
func (s *storage) close() {
	s.stop()
	s.shelf.Close()
	s.sweeps.Wait()
	if err := s.store.Close(); err != nil {
		s.log.Error("cannot close the store", "error", err.Error())
	}
}

// parts returns the state of each part that is used and may fail, as /-/ready shows it.
func (s *storage) parts() map[string]string {
	all := map[string]string{}
	if s.shared != nil {
		all["shared_store"] = s.shared.State()
	}
	if state := s.shelf.Server(); state != "" {
		all["bucket"] = state
	}
	if s.shelf.NoSpace() || s.disk != nil && s.disk.Full() {
		all["artifacts"] = "full"
	}
	if s.passing {
		all["store"] = "memory"
	}
	return all
}

// keeps reports whether artifacts can be kept now.
func (s *storage) keeps() bool {
	p := s.parts()
	return p["artifacts"] == "" && (p["bucket"] == "" || p["bucket"] == store.Answers)
}
