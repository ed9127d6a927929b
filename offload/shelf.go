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
	"hash/maphash"
	"io/fs"
	"log/slog"
	"math"
	"sync"
	"time"

	"epitome/store"
)

// longest is what a keep counts for at most, as in the store.
const longest = 100 * 365 * 24 * time.Hour

var (
	// ErrFull says that the quota is used up, or the disk. Nothing was written.
	ErrFull = errors.New("the shelf of artifacts is full")

	// ErrUnknown says that nothing is known under a name: never put, expired, gone, changed by someone, or not a name.
	ErrUnknown = errors.New("there is no such artifact")

	errOther = errors.New("another content has its name")
)

// Facts keep the metadata of artifacts; a store.Store does so, and what is said there of these methods holds here.
type Facts interface {
	Get(key string) (fact store.Fact, found bool)
	Put(key string, value []byte, keep time.Duration) (version uint64, err error)
	Delete(key string) error
	Scan(prefix string, visit func(key string, fact store.Fact) bool) error
	Touch(key string, keep time.Duration) (found bool, err error)
}

// Options say where a Shelf lies and what it uses of the world outside.
type Options struct {
	// Folder is that of the data: artifacts lie in Folder/artifacts, the secret in Folder/secret. Empty: both in memory
	// only, with at most 64 MB of contents whatever the quota.
	Folder string

	// Place has the contents and the secret instead of Folder, if it is set.
	Place Place

	// Store has the metadata, each under "a/" and the name. Required.
	Store Facts

	// Quota is how many bytes of contents there may be; PutBeyond may go to twice of it. 0 refuses everything.
	Quota int64

	// Keep is how long an artifact lives at least from when it was put or touched last. It goes at most an eighth
	// later.
	Keep time.Duration

	// Address says how stubs name an artifact: "path", "url", "both" or "none". In memory there is no path: both "path"
	// and "both" name the URL if there is one.
	Address string

	// URL is where artifacts are served, as in http://127.0.0.1:7070/-/artifacts/; the name is appended.
	URL string

	// Now is the clock of expiry. Default time.Now.
	Now func() time.Time

	// Log hears of contents that someone has changed, and of lives that could not be prolonged. Default: nobody.
	Log *slog.Logger
}

// Shelf keeps artifacts. There is nothing to close.
type Shelf struct {
	place   Place
	store   Facts
	budget  budget
	keep    time.Duration // what a touch gives: more than Options.Keep, as a touch may leave out a sixteenth
	now     func() time.Time
	log     *slog.Logger
	secret  []byte
	address address

	sweeping sync.Mutex
	seed     maphash.Seed
	locks    [64]sync.Mutex // each lets the changes of its share of the names happen one after another
}

// Open returns the shelf in o.Folder, which it makes where there is none, and counts what is used.
func Open(o Options) (*Shelf, error) {
	s, err := open(o)
	if err != nil {
		return nil, fmt.Errorf("cannot open the shelf of artifacts: %w", err)
	}
	return s, nil
}

func open(o Options) (*Shelf, error) {
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
	keep := min(o.Keep, longest)
	s := &Shelf{store: o.Store, keep: keep + keep/8, now: o.Now, log: o.Log, seed: maphash.MakeSeed()}
	s.budget.quota, s.budget.most = o.Quota, math.MaxInt64
	folder, err := s.settle(o)
	if err != nil {
		return nil, err
	}
	if s.address, err = newAddress(o.Address, folder, o.URL); err != nil {
		return nil, err
	}
	return s, s.count()
}

// settle finds the place of contents and its secret. folder is where an agent finds the contents as files, if it can.
func (s *Shelf) settle(o Options) (folder string, err error) {
	switch {
	case o.Place != nil:
		s.place = o.Place
	case o.Folder == "":
		s.place, s.budget.most = newMemoryPlace(), memoryMost
	default:
		f, err := openFilePlace(o)
		if err != nil {
			return "", err
		}
		s.place, folder = f, f.folder
	}
	s.secret, err = s.place.Secret()
	return folder, err
}

// count makes what is used what lies there.
func (s *Shelf) count() error {
	names, err := s.place.Names()
	if err != nil {
		return err
	}
	s.budget.beginCount()
	for _, name := range names {
		if there, err := s.place.Look(name); err == nil {
			s.budget.saw(name, there.Size)
		}
	}
	s.budget.endCount()
	return nil
}

// Put keeps content under name. What is there already is touched, and its content is not read again. The error is
// ErrFull if the quota or the disk is used up; nothing new is there then, nor after any other error.
func (s *Shelf) Put(name string, content []byte) error {
	return s.putWithin(s.budget.once(), name, content)
}

// PutBeyond is Put for those who may use twice the quota.
func (s *Shelf) PutBeyond(name string, content []byte) error {
	return s.putWithin(s.budget.twice(), name, content)
}

// Full tells whether the quota is used up, so that Put refuses whatever is new, or much of it: from when something was
// refused to when something is freed.
func (s *Shelf) Full() bool { return s.budget.full() }

// Used is how many bytes of contents there are, expired ones that no Sweep has deleted yet included.
func (s *Shelf) Used() int64 { return s.budget.total() }

func (s *Shelf) putWithin(limit int64, name string, content []byte) error {
	if !IsName(name) {
		return fmt.Errorf("cannot put artifact %q: its name is not one of Name's", shown(name))
	}
	defer s.lock(name).Unlock()
	if err := s.put(limit, name, content); err != nil {
		return fmt.Errorf("cannot put artifact %s: %w", shown(name), err)
	}
	return nil
}

// put does as Put says under the lock of name.
func (s *Shelf) put(limit int64, name string, content []byte) error {
	size := int64(len(content))
	old, known := s.metadata(name)
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
	if present && there.Size == size && s.holds(name, fresh) { // of another process, or its time was lost
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
			_ = s.store.Delete(keyOf(name)) // what stays of it goes with its expiry
		}
		return full(err)
	}
	s.budget.settle(name, size, min(there.Size, size)) // what someone has added to the file was never counted
	return nil
}

// write begins with the metadata: a store that refuses them then costs nothing, and if the process ends before the
// content is there, Touch says so and Sweep deletes them.
func (s *Shelf) write(name string, content []byte, fresh metadata) error {
	if err := s.record(name, fresh); err != nil {
		return err
	}
	return s.place.Write(name, content, s.until())
}

// adopt makes a content that lies there without our metadata a live one.
func (s *Shelf) adopt(name string, fresh metadata, there Entry) error {
	if err := s.record(name, fresh); err != nil {
		return full(err)
	}
	if there.Until.Before(s.until()) {
		if err := s.place.Prolong(name, s.until()); err != nil {
			return full(err)
		}
	}
	s.budget.changed(name, there.Size, there.Size)
	return nil
}

func (s *Shelf) record(name string, fresh metadata) error {
	_, err := s.store.Put(keyOf(name), fresh.encode(), s.keep)
	return ofStore(err)
}

// Touch lets the artifact live for Options.Keep from now. It returns false if the content is not there, or not as it
// was written by all that its size and time tell: then the caller puts it again.
func (s *Shelf) Touch(name string) bool {
	if !IsName(name) {
		return false
	}
	defer s.lock(name).Unlock()
	meta, known := s.metadata(name)
	if !known {
		return false
	}
	there, err := s.place.Look(name)
	return err == nil && s.intact(there, meta) && s.prolong(name, there)
}

// prolong returns false if the artifact has just gone. Where there is no room to write down the new expiry, the old
// one stays: the content is there all the same, and would not be better off written again.
func (s *Shelf) prolong(name string, there Entry) bool {
	known, err := s.store.Touch(keyOf(name), s.keep)
	err = ofStore(err)
	if until := s.until(); err == nil && there.Until.Before(until.Add(-s.keep/16)) {
		err = s.place.Prolong(name, until)
	}
	if err != nil && known && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("an artifact's life could not be prolonged", "artifact", shown(name), "error", cause(err).Error())
		return true
	}
	return known && err == nil
}

// intact judges by what costs no reading.
func (s *Shelf) intact(there Entry, meta metadata) bool {
	return there.Size == meta.size && there.Until.After(s.now())
}

// until is when an artifact may go that is put or touched now.
func (s *Shelf) until() time.Time { return s.now().Add(s.keep) }

func (s *Shelf) lock(name string) *sync.Mutex {
	mu := &s.locks[maphash.String(s.seed, name)%uint64(len(s.locks))]
	mu.Lock()
	return mu
}

func (s *Shelf) metadata(name string) (metadata, bool) {
	fact, found := s.store.Get(keyOf(name))
	if !found {
		return metadata{}, false
	}
	return decode(fact.Bytes)
}
