package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/gofrs/flock"

	"epitome/store"
	"epitome/store/records"
)

// Options say where a Store lies and what it uses of the world outside. Only Folder has no default.
type Options struct {
	// Folder is the store's own. Beside it lie Folder.lock and, after damage, at most two Folder.bad-TIME.
	Folder string

	// Now is the clock of expiry and of looking at free space. Default time.Now.
	Now func() time.Time

	// Free tells how many bytes of the disk that folder is on are free. Default: as the system says.
	Free func(folder string) (uint64, error)

	// SyncEvery is how much of the latest work a power failure may undo. Default 1 s.
	SyncEvery time.Duration

	// Fault hears of each read that failed for another reason than absence, and of failed background syncs. It is
	// called from any goroutine, before the failed call returns: it must be quick and must not use the store. Default:
	// none.
	Fault func(error)

	// Log gets Badger's warnings. Default: none.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Free == nil {
		o.Free = freeSpace
	}
	if o.SyncEvery <= 0 {
		o.SyncEvery = time.Second
	}
	if o.Fault == nil {
		o.Fault = func(error) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Open returns the store in o.Folder. It makes the folder if there is none. It moves a damaged store aside, says so in
// Notice, and begins an empty one. The errors are store.ErrInUse, store.ErrNoSpace, and what the system refuses; these
// move nothing.
func Open(o Options) (*Store, error) {
	d, err := open(o.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("cannot open store %s: %w", o.Folder, err)
	}
	return d, nil
}

func open(o Options) (*Store, error) {
	if o.Folder == "" {
		return nil, errors.New("it has no folder")
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, err
	}
	held := flock.New(filepath.Clean(o.Folder) + ".lock")
	locked, err := held.TryLock()
	if err == nil && !locked {
		err = store.ErrInUse
	}
	if err != nil {
		return nil, err
	}
	d, err := openLocked(o)
	if err != nil {
		_ = held.Close()
		return nil, err
	}
	d.lock = held
	d.start(o.SyncEvery)
	return d, nil
}

// openLocked opens the folder, or if that is damaged, a new one in its place. The caller holds the lock.
func openLocked(o Options) (*Store, error) {
	room := &space{folder: o.Folder, free: o.Free, now: o.Now}
	if err := room.check(); err != nil {
		return nil, err
	}
	why, err := unfinished(o.Folder)
	if err != nil {
		return nil, err
	}
	d := &Store{room: room, now: o.Now, fault: o.Fault, sweeper: sweeper{most: sweepRecords}}
	if why == nil {
		d.db, why = tryOpen(o)
	}
	if why != nil {
		if outside(why) {
			return nil, why
		}
		if d.notice, err = quarantine(o.Folder, why, o.Now()); err != nil {
			return nil, err
		}
		if d.db, err = tryOpen(o); err != nil {
			return nil, err
		}
	}
	if err := room.files.watch(o.Folder); err != nil {
		return nil, errors.Join(err, d.db.Close())
	}
	d.Facts = records.New(rows{d}, o.Now, o.Fault)
	return d, nil
}

// tryOpen opens the folder under the marker: if the process dies of it, the marker stays.
func tryOpen(o Options) (db *badger.DB, err error) {
	marker := filepath.Join(o.Folder, markerName)
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		return nil, err
	}
	defer func() {
		if removed := os.Remove(marker); err == nil && removed != nil {
			err = errors.Join(removed, db.Close()) // the next start would take the store for damaged
		}
	}()
	if err := dropEmptyLogs(o.Folder); err != nil {
		return nil, err
	}
	if err := checkTables(o.Folder); err != nil {
		return nil, err
	}
	err = survive(func() error {
		db, err = badger.Open(tuned(o))
		return err
	})
	if err != nil && strings.Contains(err.Error(), "Cannot acquire directory lock") {
		return nil, fmt.Errorf("%w: %w", store.ErrInUse, err)
	}
	return db, err
}

// tuned returns Badger's options for small values and little memory. The tables are checked before Badger sees them
// (checkTables), and each value carries its checksum, so Badger itself does not verify: its own check panics on some
// damage.
func tuned(o Options) badger.Options {
	return badger.DefaultOptions(o.Folder).
		WithLogger(warnings{o.Log}).
		WithMemTableSize(memTableSize).WithNumMemtables(2).
		WithBlockCacheSize(8 << 20).WithIndexCacheSize(8 << 20).
		WithNumLevelZeroTables(2).WithNumLevelZeroTablesStall(6).
		WithNumCompactors(2).WithBaseTableSize(2 << 20).
		WithValueLogFileSize(valueLogSize).WithValueThreshold(valueThreshold).
		WithCompactL0OnClose(true).WithMetricsEnabled(false).
		WithDetectConflicts(false). // the locks of records.Facts do that
		WithSyncWrites(false).
		WithVerifyValueChecksum(true).
		WithChecksumVerificationMode(options.NoVerification)
}

// outside reports whether err speaks of the system and not of the store: moving the store aside would help nothing.
// Badger keeps only the text of an error that it wraps.
func outside(err error) bool {
	for _, e := range []error{
		store.ErrInUse, fs.ErrPermission, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.ENOMEM, syscall.EROFS,
	} {
		if errors.Is(err, e) || strings.Contains(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}

// warnings passes what Badger warns of to slog.
type warnings struct{ log *slog.Logger }

// Errorf is a method of badger.Logger.
func (w warnings) Errorf(format string, args ...any) { w.warn(format, args) }

// Warningf is a method of badger.Logger.
func (w warnings) Warningf(format string, args ...any) { w.warn(format, args) }

// Infof drops what is no warning.
func (w warnings) Infof(string, ...any) {}

// Debugf drops what is no warning.
func (w warnings) Debugf(string, ...any) {}

// warn keeps a message short: some of Badger's hold a whole value.
func (w warnings) warn(format string, args []any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	w.log.Warn("badger: " + text[:min(len(text), 300)])
}
