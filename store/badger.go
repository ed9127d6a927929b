package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/gofrs/flock"
)

const (
	memTableSize = 8 << 20
	compression  = options.Snappy
	reserve      = 512 << 20 // bytes of the disk that must stay free: without, Badger dies of a fault in a mapped file

	// newest is the version that transactions read at. The store numbers the versions itself: where Badger does, each
	// read wakes a goroutine twice.
	newest = math.MaxUint64
)

// Badger is a store in a folder. One process at a time can use the folder. A power failure may undo the last facts.
type Badger struct {
	db     *badger.DB
	folder string
	lock   *flock.Flock
	free   func(folder string) (uint64, error) // bytes of the disk
	log    *slog.Logger

	life   sync.RWMutex // held for reading while Badger is used; guards closed
	closed bool
	failed atomic.Bool

	writing sync.Mutex
	version uint64 // of the last fact that was written; guarded by writing
}

// OpenBadger opens the store in a folder and makes the folder if there is none. Badger refuses a damaged folder, or
// panics, which may end the process. So a folder that could not be opened is moved to FOLDER.bad-TIME, which the log
// says, and an empty store begins; not if the system refused a call, as for too many open files: the folder may be
// sound. The errors are ErrInUse, ErrNoSpace, and those of the system. The log also gets Badger's warnings.
func OpenBadger(folder string, log *slog.Logger) (*Badger, error) {
	b := &Badger{folder: filepath.Clean(folder), free: freeSpace, log: log}
	b.lock = flock.New(b.folder + ".lock")
	err := b.open()
	if err != nil {
		_ = b.lock.Close()
		return nil, fmt.Errorf("cannot open store %s: %w", folder, err)
	}
	return b, nil
}

func (b *Badger) open() error {
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return err
	}
	held, err := b.lock.TryLock()
	if err == nil && !held {
		err = ErrInUse
	}
	if err == nil {
		err = b.space()
	}
	if err != nil {
		return err
	}
	err = b.openFolder()
	if err == nil {
		return nil
	}
	var refused syscall.Errno
	if errors.As(err, &refused) && !errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(b.opening())
		return err
	}
	b.log.Warn("cannot open the store", "folder", b.folder, "error", fmt.Sprintf("%.300s", err.Error()))
	return b.openFolder()
}

// opening returns the name of a file that is there while the folder is being opened, and after that has failed.
func (b *Badger) opening() string { return b.folder + ".opening" }

// openFolder opens what is in the folder, or an empty store if that has failed before.
func (b *Badger) openFolder() (err error) {
	if _, err := os.Stat(b.opening()); err == nil {
		aside := b.folder + ".bad-" + time.Now().UTC().Format("20060102T150405.000")
		if err := os.Rename(b.folder, aside); err != nil {
			return err
		}
		b.log.Warn("the store was damaged, and an empty one begins", "folder", b.folder, "moved_to", aside)
	}
	if err := os.WriteFile(b.opening(), nil, 0o600); err != nil {
		return err
	}
	damaged, err := b.setAside()
	if err != nil {
		return err
	}
	o := badger.DefaultOptions(b.folder).WithLogger(warnings{b.log}).WithMetricsEnabled(false).
		WithMemTableSize(memTableSize).WithNumMemtables(2).WithBlockCacheSize(8 << 20).WithIndexCacheSize(8 << 20).
		WithNumLevelZeroTables(2).WithNumLevelZeroTablesStall(6).WithNumCompactors(2).WithBaseTableSize(2 << 20).
		WithCompactL0OnClose(true).WithCompression(compression).WithChecksumVerificationMode(options.NoVerification).
		WithValueLogFileSize(64 << 20).WithValueThreshold(1 << 20) // all values are in the tables, which are compacted
	if b.db, err = badger.OpenManaged(o); err != nil {
		return err
	}
	b.version = b.db.MaxVersion()
	for _, name := range damaged {
		_ = os.Remove(name)
	}
	return os.Remove(b.opening())
}

// setAside removes the empty logs that a process leaves if it dies while it begins a log, as Badger refuses them. And it
// renames tables that cannot be read: Badger would read them in goroutines of its own, where a damaged table panics and
// ends the process. A folder that lacks a table is refused by Badger; a table that a killed process has left half
// written is not missed.
func (b *Badger) setAside() (damaged []string, err error) {
	files, _ := os.ReadDir(b.folder) // there is no folder if it was moved; Badger finds other errors
	for _, file := range files {
		name := filepath.Join(b.folder, file.Name())
		switch filepath.Ext(name) {
		case ".mem", ".vlog":
			info, unknown := file.Info()
			if unknown == nil && info.Size() == 0 {
				err = errors.Join(err, os.Remove(name))
			}
		case ".sst":
			content, failed := os.ReadFile(name)
			if failed == nil && isDamaged(content) {
				damaged = append(damaged, name+".damaged")
				failed = os.Rename(name, name+".damaged")
			}
			err = errors.Join(err, failed)
		}
	}
	return damaged, err
}

// isDamaged reports whether a table cannot be read, or does not fit its checksums.
func isDamaged(content []byte) (is bool) {
	defer func() { is = is || recover() != nil }()
	t, err := table.OpenInMemoryTable(content, 0, &table.Options{Compression: compression})
	return err != nil || t.VerifyChecksum() != nil
}

// warnings logs Badger's errors and warnings.
type warnings struct{ log *slog.Logger }

func (w warnings) Errorf(format string, args ...any)   { w.warn(format, args) }
func (w warnings) Warningf(format string, args ...any) { w.warn(format, args) }
func (w warnings) Infof(string, ...any)                {}
func (w warnings) Debugf(string, ...any)               {}

// warn keeps a message short, as some of Badger's hold a whole value.
func (w warnings) warn(format string, args []any) {
	w.log.Warn(fmt.Sprintf("badger: %.300s", strings.TrimSpace(fmt.Sprintf(format, args...))))
}

// space returns ErrNoSpace if too little of the disk is free.
func (b *Badger) space() error {
	free, err := b.free(b.folder)
	if err != nil {
		return fmt.Errorf("cannot read the free space of the store's disk: %w", err) // figures show it: it has no path
	}
	if free < reserve {
		return fmt.Errorf("%w: %d MB are free; want %d MB", ErrNoSpace, free>>20, reserve>>20)
	}
	return nil
}

// State is empty while facts can be written. Else it says in a word why not: the disk is full, the folder is missing,
// or the store has failed.
func (b *Badger) State() string {
	err := b.space()
	switch {
	case b.failed.Load():
		return "failed"
	case errors.Is(err, ErrNoSpace):
		return "full"
	case err != nil:
		return "missing"
	}
	return ""
}

// use calls do unless the store is closed or has failed. Close waits for it. Badger maps its files into memory, where an
// error of the disk is a fault: it fails the store, and not the process, as long as it is met here and not on a
// goroutine of Badger's own.
func (b *Badger) use(do func() error) (err error) {
	b.life.RLock()
	defer b.life.RUnlock()
	if b.closed {
		return ErrClosed
	}
	if b.failed.Load() {
		return ErrFailed
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			b.failed.Store(true) // Badger may hold a lock
			b.log.Error("the store has failed: conversations are shortened by code alone until a restart", "panic", r)
			err = ErrFailed
		}
	}()
	return do()
}

// update runs a transaction that writes, one at a time.
func (b *Badger) update(verb, key string, do func(txn *badger.Txn) error) error {
	if err := b.space(); err != nil {
		return wrapped(verb, key, err)
	}
	return wrapped(verb, key, b.use(func() error {
		b.writing.Lock()
		defer b.writing.Unlock()
		txn := b.db.NewTransactionAt(newest, true)
		defer txn.Discard()
		if err := do(txn); err != nil {
			return err
		}
		b.version++
		b.db.SetDiscardTs(b.version - 1) // nobody reads older versions
		return txn.CommitAt(b.version, nil)
	}))
}

// read returns a value and when it expires, in seconds since 1970; nil if there is none.
func read(txn *badger.Txn, key string) (value []byte, expires uint64, err error) {
	item, err := txn.Get([]byte(key))
	if errors.Is(err, badger.ErrKeyNotFound) || key == "" {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	value, err = item.ValueCopy(nil)
	return value, item.ExpiresAt(), err
}

func set(txn *badger.Txn, key string, value []byte, keep time.Duration) error {
	return txn.SetEntry(badger.NewEntry([]byte(key), bytes.Clone(value)).WithTTL(keep))
}

func (b *Badger) GetMany(keys []string) ([][]byte, error) {
	values := make([][]byte, len(keys))
	err := b.use(func() (err error) {
		txn := b.db.NewTransactionAt(newest, false)
		defer txn.Discard()
		for i, key := range keys {
			values[i], _, err = read(txn, key)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, wrapped("read", strings.Join(keys, " "), err)
	}
	return values, nil
}

func (b *Badger) Swap(key string, old, value []byte, keep time.Duration) (standing []byte, err error) {
	if err := check(key, value, keep); err != nil {
		return nil, wrapped("swap", key, err)
	}
	err = b.update("swap", key, func(txn *badger.Txn) error {
		standing, _, err = read(txn, key)
		if err != nil {
			return err
		}
		if !bytes.Equal(standing, old) { // another writer was first
			return nil
		}
		standing = bytes.Clone(value)
		return set(txn, key, value, keep)
	})
	if err != nil {
		return nil, err
	}
	return standing, nil
}

func (b *Badger) Touch(key string, keep time.Duration) error {
	return b.update("touch", key, func(txn *badger.Txn) error {
		value, expires, err := read(txn, key)
		if err != nil {
			return err
		}
		if value == nil || time.Until(time.Unix(int64(expires), 0)) >= keep-keep/16 {
			return nil
		}
		return set(txn, key, value, keep)
	})
}

func (b *Badger) Delete(keys ...string) error {
	for _, key := range keys {
		if key == "" {
			continue
		}
		err := b.update("delete", key, func(txn *badger.Txn) error { return txn.Delete([]byte(key)) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Badger) Close() error {
	b.life.Lock()
	defer b.life.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	free, err := b.free(b.folder)
	if err == nil && free < 8*memTableSize { // the next start reads the logs
		err = ErrNoSpace
	}
	if err == nil && !b.failed.Load() { // in a folder that is missing Badger would try for ever
		err = b.db.Close()
	}
	if err := errors.Join(err, b.lock.Close()); err != nil {
		return fmt.Errorf("cannot close store %s: %w", b.folder, err)
	}
	return nil
}
