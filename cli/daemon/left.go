package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"epitome/config"
	"epitome/inject"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/store"
	"epitome/window"
)

// Left is what an epitome that does not run has left in its data folder.
type Left struct {
	Store *store.Badger
	shelf *offload.Shelf
	kept  inject.Files
}

// OpenLeft opens it; the caller closes the store. The error is offload.ErrUnknown where nothing was ever kept.
func OpenLeft(conf config.Config, folder string) (Left, error) {
	if _, err := os.Stat(filepath.Join(folder, StoreFolder)); errors.Is(err, fs.ErrNotExist) {
		return Left{}, offload.ErrUnknown
	}
	if err := config.CheckFormat(folder); err != nil {
		return Left{}, err
	}
	facts, err := store.OpenBadger(filepath.Join(folder, StoreFolder), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if errors.Is(err, store.ErrInUse) {
		return Left{}, fmt.Errorf("an epitome that does not answer holds the store in %s; stop it first", folder)
	}
	if err != nil {
		return Left{}, err
	}
	shelf, err := openShelfLeft(conf, folder)
	if err != nil {
		_ = facts.Close()
		return Left{}, err
	}
	return Left{facts, shelf, config.Contexts(folder)}, nil
}

// Memories are what sessions have learned there.
func (k Left) Memories(conf config.Config) *inject.Memory {
	return inject.NewMemory(k.Store, conf.Memory, conf.Store.Keep.D(), time.Now)
}

func (k Left) Close() error { return k.Store.Close() }

// Unwritten are means of shaping for one that knows nothing, and keeps in memory what it decides. Artifacts have the
// names that the secret in the folder gives them, and are not kept.
func Unwritten(conf config.Config, folder string, windows *window.Windows) (rewrite.Deps, error) {
	facts, keep := store.NewMemory(passingMemory), conf.Store.Keep.D()
	if err := config.CheckFormat(folder); err != nil {
		return rewrite.Deps{}, err
	}
	shelf, err := openShelfLeft(conf, folder)
	if err != nil {
		return rewrite.Deps{}, err
	}
	m := Deps(facts, shelf, windows, keep)
	m.Shelf, m.CachedPrice, m.Address = shadowShelf{m.Shelf}, Prices(conf).CachedPrice, conf.Offload.Address
	if home, err := conf.DataFolder(); err == nil { // folder may be one that does not stay
		m.Inject = &inject.Injector{Files: config.Contexts(home), Shelf: m.Shelf}
	}
	return m, nil
}

// openShelfLeft opens the shelf while nobody serves it. The texts for artifacts in a bucket name the URLs at which an
// epitome would serve them.
func openShelfLeft(conf config.Config, folder string) (*offload.Shelf, error) {
	o, err := shelfOptions(conf, conf.Listen, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if conf.Offload.Bucket != "" {
		return offload.OpenBucket(conf.Offload.Bucket, o)
	}
	if o.Address != "none" {
		o.Address = "path"
	}
	return offload.OpenFolder(shelfFolder(conf, folder), o)
}
