package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"epitome/config"
	"epitome/event"
	"epitome/inject"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/store"
	"epitome/tokenize"
	"epitome/window"
)

// century is how long marks in a store are kept.
const century = 100 * 365 * 24 * time.Hour

// passingMemory is the bytes for decisions when there is no store on disk.
const passingMemory = 64 << 20

// eventQuota is the bytes of events on disk; the oldest go first.
const eventQuota = 256 << 20

// The folders in the data folder.
const (
	StoreFolder    = "store"
	ArtifactFolder = "artifacts"
	EventFolder    = "events"
	RequestFolder  = "requests"
)

// openStores opens the shelf of artifacts and the store of facts, and has expired artifacts deleted.
func (d *Daemon) openStores(conf config.Config) (err error) {
	d.shelf, err = openShelf(conf, d.card.folder, d.Address(), d.log, d.metrics.Observer("bucket"))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var sweeps sync.WaitGroup
	d.atEnd(func() {
		stop()
		d.shelf.Close() // which ends a sweep's calls to a bucket
		sweeps.Wait()
	})
	_, err = os.Stat(filepath.Join(d.card.folder, StoreFolder))
	isOld := err == nil // an earlier process has made the store
	if conf.Store.URL == "" {
		d.openOwn()
	} else if d.store, err = d.openShared(conf); err != nil {
		return err
	}
	d.atEnd(func() {
		if err := d.store.Close(); err != nil {
			d.log.Error("cannot close the store", "error", err.Error())
		}
	})
	d.tellFormat(isOld && conf.Store.URL == "")
	sweeps.Go(func() { d.sweep(ctx) })
	return nil
}

// openOwn opens the store in the data folder, or, if that cannot be used, one in memory, and says so.
func (d *Daemon) openOwn() {
	own, err := store.OpenBadger(filepath.Join(d.card.folder, StoreFolder), d.log)
	if err == nil {
		d.store = own
		return
	}
	d.store = store.NewMemory(passingMemory)
	d.passing = true
	d.log.Warn("the store cannot be used: epitome cannot remember what it has shortened, so it shortens nothing "+
		"before the window fills", "why", err.Error(), "do", "make sure that the folder can be written and is "+
		"used by no other epitome, or give another one with --data")
}

// openShared opens the store that others share. That its server does not answer is no error, but that the others have
// another secret is one: their artifacts and scopes have other names, so nothing could be shared.
func (d *Daemon) openShared(conf config.Config) (store.Store, error) {
	shared, err := store.OpenRedis(conf.Store.URL, conf.Store.CA, d.log, d.metrics.Observer("shared_store"))
	if err != nil {
		return nil, fmt.Errorf("cannot use store.url: %w", err)
	}
	mark := []byte(d.shelf.Name("the mark of a shared store", nil))
	if standing, err := shared.Swap("mark", nil, mark, century); err == nil && !bytes.Equal(standing, mark) {
		_ = shared.Close()
		return nil, errors.New("cannot use store.url: the others that use it have another secret; give all of them the " +
			"same, or another database")
	}
	return shared, nil
}

// tellFormat logs that another version of epitome has recorded decisions in the store that this one does not know. The
// first versions marked nothing, so an old store without a mark is theirs.
func (d *Daemon) tellFormat(isOld bool) {
	own := []byte(ledger.Format)
	standing, err := store.Get(d.store, "format")
	if err != nil || bytes.Equal(standing, own) {
		return
	}
	if standing != nil || isOld {
		d.log.Warn("the store is of another version of epitome, and its decisions are left alone: what conversations need "+
			"is decided anew, so each is read once without the provider's cache",
			"folder", d.card.folder, "format", string(own), "was", cmp.Or(string(standing), "unmarked"))
	}
	_, _ = d.store.Swap("format", standing, own, century) // else it is told again at the next start
}

// openShelf opens the artifacts in the bucket or the shared folder that the configuration names, or else in the data
// folder. listen is the address under which they can be asked for.
func openShelf(conf config.Config, folder, listen string, log *slog.Logger,
	observe store.Observer) (shelf *offload.Shelf, err error) {
	o, err := shelfOptions(conf, listen, log)
	if err != nil {
		return nil, err
	}
	o.Observe = observe
	if conf.Offload.Bucket != "" {
		shelf, err = offload.OpenBucket(conf.Offload.Bucket, o)
		if err != nil {
			err = fmt.Errorf("cannot use offload.bucket: %w; with offload.secret_file epitome starts without it", err)
		}
		return shelf, err
	}
	shelf, err = offload.OpenFolder(shelfFolder(conf, folder), o)
	if _, isFile := errors.AsType[*fs.PathError](err); isFile {
		err = fmt.Errorf("%w; give a folder that your user can read and write with --data, or as offload.folder if "+
			"store.url is set", err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot keep artifacts: %w", err)
	}
	return shelf, nil
}

// OpenArtifacts opens the artifacts of a data folder, whether an epitome runs with it or not. The error is
// offload.ErrUnknown if there are none.
func OpenArtifacts(conf config.Config, folder string) (*offload.Shelf, error) {
	_, err := os.Stat(ArtifactsIn(conf, folder))
	if err != nil && conf.Offload.Bucket == "" {
		return nil, offload.ErrUnknown
	}
	return openShelf(conf, folder, conf.Listen, slog.New(slog.DiscardHandler), nil)
}

// ArtifactsIn returns the folder in which the artifacts of a data folder lie, if they do not lie in a bucket.
func ArtifactsIn(conf config.Config, folder string) string {
	return filepath.Join(shelfFolder(conf, folder), ArtifactFolder)
}

// shelfOptions are those of the shelf of an epitome that listens at an address.
func shelfOptions(conf config.Config, listen string, log *slog.Logger) (offload.Options, error) {
	secret, err := conf.Offload.ReadSecret()
	return offload.Options{
		Quota: int64(conf.Offload.Quota), Keep: conf.Store.Keep.D(), Secret: secret,
		Address: conf.Offload.Place(), URL: conf.ArtifactsAt(listen), Shown: conf.Offload.Shown, Log: log,
	}, err
}

// shelfFolder is the data folder in which artifacts lie, or the one that several epitomes share.
func shelfFolder(conf config.Config, folder string) string {
	if conf.Store.URL != "" {
		return conf.Offload.Folder
	}
	return folder
}

// sweep deletes expired artifacts soon after the start, and then every hour, until ctx ends.
func (d *Daemon) sweep(ctx context.Context) {
	for rest := 2 * time.Second; ; rest = time.Hour {
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
		var swept offload.Swept
		err := store.Try(func() (err error) {
			swept, err = d.shelf.Sweep(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil {
			d.log.Warn(err.Error())
		} else if swept.Files > 0 {
			d.log.Info("swept artifacts", "files", swept.Files, "bytes", swept.Bytes)
		}
	}
}

// memoEntries is how many counts of texts are kept, some 9 MB: those of a hundred long conversations.
const memoEntries = 1 << 17

// Deps returns the parts that every shaper has, over a store and a shelf.
func Deps(s store.Store, artifacts *offload.Shelf, windows *window.Windows, keep time.Duration) rewrite.Deps {
	return rewrite.Deps{
		Ledger: ledger.New(s, keep), Shelf: artifacts, Keep: keep,
		Memo: tokenize.NewMemo(memoEntries),
		Window: func(upstream, model string, maxOutput int) (tokens, usable int) {
			w := windows.Of(upstream, model)
			return w.Tokens, window.Usable(w.Tokens, maxOutput)
		},
	}
}

// TrialDeps returns the parts of a shaper that knows no conversation yet. It asks no model, and keeps in memory what it
// decides.
func TrialDeps(conf config.Config, windows *window.Windows) (rewrite.Deps, error) {
	o, err := shelfOptions(conf, conf.Listen, nil)
	if err != nil {
		return rewrite.Deps{}, err
	}
	shelf := offload.OpenMemory(o)
	d := Deps(store.NewMemory(passingMemory), shelf, windows, conf.Store.Keep.D())
	d.Address = conf.Offload.Address
	d.CachedPrice = event.NewBiller(Prices(conf)).CachedPrice
	d.Inject = &inject.Injector{Files: inject.FilesIn(conf.Data), Shelf: shelf}
	return d, nil
}

// unwritten is a shelf that names artifacts and keeps none.
type unwritten struct{ rewrite.Shelf }

func (unwritten) Put(string, []byte, bool) error { return nil }

func (unwritten) Touch(string) bool { return true }

// Prices returns by which prices a configuration charges.
func Prices(conf config.Config) event.Prices {
	s := event.Prices{Own: conf.Prices, Sellers: map[string]event.Seller{}, Caches: conf.Rewrite.Caches()}
	for name, u := range conf.Upstreams {
		s.Sellers[name] = event.Seller{URL: u.URL, Billing: u.Billing}
	}
	return s
}

// probedOf returns the upstreams that may be asked how much their models hold, and whether they are the user's own. All
// others but OpenRouter want a key for that; a client's own is not used for a request that the client has not made.
func probedOf(conf config.Config) map[string]bool {
	servers := map[string]bool{}
	if !conf.Window.Probe {
		return servers
	}
	for name, u := range conf.Upstreams {
		at, err := url.Parse(u.URL)
		own := config.IsLocal(u.URL)
		hasKey := u.Headers["Authorization"]+u.Headers["authorization"] != ""
		if own || hasKey || err == nil && at.Hostname() == "openrouter.ai" {
			servers[name] = own
		}
	}
	return servers
}
