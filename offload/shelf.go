// Package offload is the shelf of artifacts: content taken out of conversations, kept so that it can be read back.
//
// It promises: once Put has returned, the content survives the death of this process, and Get gives it back byte for
// byte or not at all, until it was neither put nor touched for Options.Keep. Its name cannot be guessed without the
// secret of the data folder, and differs per scope. No file under an artifact's name is ever half written. Sweep
// deletes nothing that is live, here or in another process with the same folder. What is used stays within the quota,
// or within twice of it for those who may. All methods may be called at the same time.
//
// It assumes: a name is given to one content (Name does so), and the clock runs about like the wall clock. The
// modification time of an artifact's file is the time when it may go. So every process knows of every file how long it
// is wanted, whoever wrote it; and a file that someone has edited shows it, as its time is then no longer in the
// future.
//
// It does not promise: protection against someone who writes into the folder as its owner; that Get knows what another
// process has put, as its metadata lie in that one's store (the file itself can be read all the same); or an exact
// quota where several processes put at once, as each counts the others' files at Open and at Sweep only.
//
// A name is the right to read: errors and logs tell no more than its beginning.
package offload

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"epitome/offload/bucket"
	"epitome/store"
)

// longest bounds Options.Keep, as the store bounds its own keeps.
const longest = 100 * 365 * 24 * time.Hour

var (
	// ErrFull says that the quota or the disk is used up. Nothing was written.
	ErrFull = errors.New("the shelf of artifacts is full")

	// ErrUnknown says that nothing is known under a name: never put, expired, gone, changed by someone, or not a name.
	ErrUnknown = errors.New("there is no such artifact")

	errOther = errors.New("another content has its name")
)

// Facts keep the metadata of artifacts. A store.Store is one; its contract for these methods holds here.
type Facts interface {
	Get(key string) (fact store.Fact, found bool)
	Put(key string, value []byte, keep time.Duration) (version uint64, err error)
	Delete(key string) error
	Scan(prefix string, visit func(key string, fact store.Fact) bool) error
	Touch(key string, keep time.Duration) (found bool, err error)
}

// Options say where a Shelf keeps its contents and what it uses of the world outside.
type Options struct {
	// Folder is the data folder: artifacts lie in Folder/artifacts, the secret in Folder/secret. If it is empty, both
	// are in memory only, with at most 64 MB of contents whatever the quota.
	Folder string

	// Place holds the contents and the secret instead of Folder, if it is set.
	Place Place

	// Bucket holds contents, metadata and the secret instead of Folder and Store, if it is set. No quota holds then,
	// and nothing expires here: both are for the bucket's owner.
	Bucket *bucket.Bucket

	// Store holds the metadata, each under "a/" and the name. Required without a Bucket.
	Store Facts

	// Others says that other processes put contents into the place whose metadata are not in Store. They are read all
	// the same, as long as their files' times are as they were left.
	Others bool

	// Quota is how many bytes of contents Put may fill; PutBeyond may fill twice as many. 0 refuses everything.
	Quota int64

	// Keep is how long an artifact lives at least after it was put or touched last. It lives at most an eighth longer.
	Keep time.Duration

	// Address says how stubs name an artifact: "path", "url", "both" or "none". In memory there is no path: both "path"
	// and "both" name the URL if there is one.
	Address string

	// URL is where artifacts are served, as in http://127.0.0.1:7070/-/artifacts/; the name is appended.
	URL string

	// Now is the clock of expiry. Default time.Now.
	Now func() time.Time

	// Log hears of contents that someone has changed, and of lives that cannot be prolonged. Default: none.
	Log *slog.Logger
}

// Shelf keeps artifacts. There is nothing to close.
type Shelf struct {
	place     Place
	catalogue catalogue
	budget    budget
	locks     *locks
	now       func() time.Time
	log       *slog.Logger
	names     *namer
	address   address
	remote    *remote     // place, if it is a bucket; else nil
	others    bool        // Options.Others
	crowded   atomic.Bool // what it wrote last found no room

	sweeping sync.Mutex // held by the one Sweep that runs
}

// Open returns the shelf in o.Folder and counts what is used. It makes the folder if there is none.
func Open(o Options) (*Shelf, error) {
	s, err := open(o)
	if err != nil {
		return nil, fmt.Errorf("cannot open the shelf of artifacts: %w", err)
	}
	return s, nil
}

func open(o Options) (*Shelf, error) {
	var far *remote
	if o.Bucket != nil {
		far = &remote{o.Bucket}
		o.Place, o.Store, o.Quota = far, far, math.MaxInt64
	}
	if o.Store == nil {
		return nil, errors.New("it has no store")
	}
	if o.Quota < 0 || o.Keep <= 0 {
		return nil, fmt.Errorf("its quota is %d bytes and its keep %v; want none below 0, and a keep above it", o.Quota,
			o.Keep)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Shelf{catalogue: newCatalogue(o.Store, o.Keep), locks: newLocks(), now: o.Now, log: o.Log, remote: far,
		others: o.Others}
	s.budget.quota, s.budget.most = o.Quota, math.MaxInt64
	place, folder, err := openPlace(o)
	if err != nil {
		return nil, err
	}
	if s.place = place; o.Place == nil && folder == "" {
		s.budget.most = memoryMost
	}
	secret, err := place.Secret()
	if err != nil {
		return nil, err
	}
	s.names = newNamer(secret)
	if s.address, err = newAddress(o.Address, folder, o.URL); err != nil {
		return nil, err
	}
	return s, s.budget.recount(place)
}

// openPlace returns the place of contents that o asks for. folder is where an agent finds the contents as files; it is
// empty if no agent can.
func openPlace(o Options) (p Place, folder string, err error) {
	switch {
	case o.Place != nil:
		return o.Place, "", nil
	case o.Folder == "":
		return newMemoryPlace(), "", nil
	}
	f, err := openFilePlace(o)
	if err != nil {
		return nil, "", err
	}
	return f, f.folder, nil
}

// Put keeps content under name. If the artifact is there already, Put touches it and does not read it. The error is
// ErrFull if the quota or the disk is used up. After any error nothing new is there.
func (s *Shelf) Put(name string, content []byte) error {
	return s.putWithin(s.budget.once(), name, content)
}

// PutBeyond does what Put does, within twice the quota.
func (s *Shelf) PutBeyond(name string, content []byte) error {
	return s.putWithin(s.budget.twice(), name, content)
}

// Full reports whether the quota is used up. It is from when Put refused something until something is freed; meanwhile
// a smaller content may still have room. A bucket that cannot be reached, or takes nothing, is full, too.
func (s *Shelf) Full() bool {
	return s.budget.full() || s.remote != nil && (s.remote.bucket.Away() || s.remote.bucket.Refuses())
}

// Used returns how many bytes of contents there are. Expired ones count until a Sweep deletes them.
func (s *Shelf) Used() int64 { return s.budget.total() }

func (s *Shelf) putWithin(limit int64, name string, content []byte) error {
	if !IsName(name) {
		return fmt.Errorf("cannot put artifact %q: its name is not one of Name's", shown(name))
	}
	defer s.locks.lock(name).Unlock()
	if err := s.put(limit, name, content); err != nil {
		return fmt.Errorf("cannot put artifact %s: %w", shown(name), err)
	}
	return nil
}

// put does what Put says. The caller holds the lock of name.
func (s *Shelf) put(limit int64, name string, content []byte) error {
	size := int64(len(content))
	old, known := s.catalogue.find(name)
	if known && old.size != size {
		return errOther
	}
	there, err := s.place.Look(name)
	present := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cause(err)
	}
	if known && present && s.intact(there, old) && s.prolong(name, there) {
		return nil
	}
	fresh := metadata{size, sha256.Sum256(content)}
	if known && old != fresh {
		return errOther
	}
	if present && there.Size == size && holds(s.place, name, fresh) { // of another process, or its time was lost
		if err := s.adopt(name, fresh, there); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		there = Entry{} // another process has just deleted it
	}
	if !s.budget.reserve(size, limit) {
		return fmt.Errorf("%w: %d of %d bytes are used, and it has %d", ErrFull, s.Used(), limit, size)
	}
	if err := s.write(name, content, fresh); err != nil {
		s.budget.release(size)
		if !known {
			_ = s.catalogue.forget(name) // if that fails too, the metadata go with their expiry
		}
		err = full(err)
		s.crowded.Store(errors.Is(err, ErrFull))
		return err
	}
	s.crowded.Store(false)
	s.budget.settle(name, size, min(there.Size, size)) // what someone has added to the file was never counted
	return nil
}

// write writes the metadata first: a store that refuses them then costs nothing, and if the process ends before the
// content is there, Touch says so and Sweep deletes them.
func (s *Shelf) write(name string, content []byte, fresh metadata) error {
	if err := s.catalogue.record(name, fresh); err != nil {
		return err
	}
	return s.place.Write(name, content, s.until())
}

// adopt records metadata for a content that lies there without ours, and lets it live.
func (s *Shelf) adopt(name string, fresh metadata, there Entry) error {
	if err := s.catalogue.record(name, fresh); err != nil {
		return full(err)
	}
	if there.Until.Before(s.until()) {
		if err := s.place.Prolong(name, s.until()); err != nil {
			return full(err)
		}
	}
	s.budget.change(name, there.Size, there.Size)
	return nil
}

// Touch lets the artifact live for Options.Keep from now. It returns false if the content is not there, or if its size
// or time shows that someone has changed it. The caller then puts it again.
func (s *Shelf) Touch(name string) bool {
	if !IsName(name) {
		return false
	}
	defer s.locks.lock(name).Unlock()
	if unsure(s, name) {
		return true
	}
	meta, known := s.catalogue.find(name)
	if !known {
		return false
	}
	there, err := s.place.Look(name)
	return err == nil && s.intact(there, meta) && s.prolong(name, there)
}

// prolong lets the artifact live on. It returns false if the artifact has just gone. If there is no room to write down
// the new expiry, it returns true and the old one stays: writing the content again would not help.
func (s *Shelf) prolong(name string, there Entry) bool {
	known, err := s.catalogue.touch(name)
	if until := s.until(); err == nil && there.Until.Before(until.Add(-s.catalogue.keep/16)) {
		err = s.place.Prolong(name, until)
	}
	if err != nil && known && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("cannot prolong the life of an artifact", "artifact", shown(name), "error", cause(err).Error())
		return true
	}
	return known && err == nil
}

// intact reports whether size and time are those of an artifact that nobody has changed. It reads no content.
func (s *Shelf) intact(there Entry, meta metadata) bool {
	return there.Size == meta.size && there.Until.After(s.now())
}

// until returns when an artifact that is put or touched now may go.
func (s *Shelf) until() time.Time { return s.now().Add(s.catalogue.keep) }

// Crowded reports whether what the shelf wrote last found no room, whatever is left of its quota: the disk is full. The
// next content is tried all the same.
func Crowded(s *Shelf) bool { return s.crowded.Load() }
