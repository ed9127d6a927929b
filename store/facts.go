package store

import (
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// longest is what a keep counts for at most: nanoseconds since 1970 end in 2262.
const longest = 100 * 365 * 24 * time.Hour

// errDamaged says that what lies under a key is not what was written there.
var errDamaged = errors.New("the value is damaged")

// record is a fact with its expiry.
type record struct {
	version uint64
	expires int64 // nanoseconds since 1970
	value   []byte
}

// shelf is what Disk and Memory differ in: records by key, expired ones included.
type shelf interface {
	// read returns a record that belongs to the caller; damage is errDamaged.
	read(key string) (r record, found bool, err error)
	// write does not keep r.value.
	write(key string, r record) error
	remove(key string) error
	// walk calls visit in the order of keys, with an error for each record that cannot be read.
	walk(prefix string, visit func(key string, r record, err error) bool) error
}

// facts is the contract over any shelf.
type facts struct {
	shelf shelf
	now   func() time.Time
	fault func(error)

	seed  maphash.Seed
	locks [64]sync.Mutex // each makes the changes of its share of the keys happen one after another

	last atomic.Uint64 // the highest version given so far
}

// begin makes f ready. Versions start at the clock, so that they rise over restarts too.
func (f *facts) begin(s shelf, now func() time.Time, fault func(error)) {
	f.shelf, f.now, f.fault = s, now, fault
	f.seed = maphash.MakeSeed()
	f.last.Store(uint64(max(now().UnixNano(), 0)))
}

// version is higher than old and than every version given before.
func (f *facts) version(old uint64) uint64 {
	for {
		last := f.last.Load()
		next := max(last, old) + 1
		if f.last.CompareAndSwap(last, next) {
			return next
		}
	}
}

func (f *facts) lock(key string) *sync.Mutex {
	mu := &f.locks[maphash.String(f.seed, key)%uint64(len(f.locks))]
	mu.Lock()
	return mu
}

// live is the record under key unless it has expired. A damaged one is reported and absent: a new value may take its place.
func (f *facts) live(key string) (record, bool, error) {
	r, found, err := f.shelf.read(key)
	if errors.Is(err, errDamaged) {
		f.fault(fmt.Errorf("cannot read fact %q: %w", key, err))
		return record{}, false, nil
	}
	if err != nil || !found || r.expires <= f.now().UnixNano() {
		return record{}, false, err
	}
	return r, true, nil
}

func (f *facts) Get(key string) (Fact, bool) {
	if checkKey(key) != nil {
		return Fact{}, false
	}
	r, found, err := f.live(key)
	if err != nil {
		f.fault(fmt.Errorf("cannot read fact %q: %w", key, err))
	}
	if err != nil || !found {
		return Fact{}, false
	}
	return Fact{r.value, r.version}, true
}

func (f *facts) Put(key string, value []byte, keep time.Duration) (uint64, error) {
	if err := check(key, value, keep); err != nil {
		return 0, fmt.Errorf("cannot put fact %q: %w", shown(key), err)
	}
	defer f.lock(key).Unlock()
	old, _, err := f.shelf.read(key) // an expired one too: its version must not come again
	if err != nil && !errors.Is(err, errDamaged) {
		return 0, fmt.Errorf("cannot put fact %q: %w", key, err)
	}
	r := record{f.version(old.version), f.until(keep), value}
	if err := f.shelf.write(key, r); err != nil {
		return 0, fmt.Errorf("cannot put fact %q: %w", key, err)
	}
	return r.version, nil
}

func (f *facts) PutIfAbsent(key string, value []byte, keep time.Duration) (Fact, bool, error) {
	return f.CompareAndSwap(key, 0, value, keep)
}

func (f *facts) CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (Fact, bool, error) {
	if err := check(key, value, keep); err != nil {
		return Fact{}, false, fmt.Errorf("cannot swap fact %q: %w", shown(key), err)
	}
	defer f.lock(key).Unlock()
	there, _, err := f.live(key)
	if err != nil {
		return Fact{}, false, fmt.Errorf("cannot swap fact %q: %w", key, err)
	}
	if there.version != old {
		return Fact{there.value, there.version}, false, nil
	}
	r := record{f.version(old), f.until(keep), value}
	if err := f.shelf.write(key, r); err != nil {
		return Fact{there.value, there.version}, false, fmt.Errorf("cannot swap fact %q: %w", key, err)
	}
	return Fact{append([]byte(nil), value...), r.version}, true, nil
}

func (f *facts) Delete(key string) error {
	err := checkKey(key)
	if err == nil {
		defer f.lock(key).Unlock()
		err = f.shelf.remove(key)
	}
	if err != nil {
		return fmt.Errorf("cannot delete fact %q: %w", shown(key), err)
	}
	return nil
}

func (f *facts) Touch(key string, keep time.Duration) (bool, error) {
	if err := check(key, nil, keep); err != nil {
		return false, fmt.Errorf("cannot touch fact %q: %w", shown(key), err)
	}
	defer f.lock(key).Unlock()
	r, found, err := f.live(key)
	if err == nil && found {
		until := f.until(keep)
		if r.expires >= until-int64(min(keep, longest)/16) {
			return true, nil
		}
		r.expires = until
		err = f.shelf.write(key, r)
	}
	if err != nil {
		return found, fmt.Errorf("cannot touch fact %q: %w", key, err)
	}
	return found, nil
}

func (f *facts) Scan(prefix string, visit func(key string, fact Fact) bool) error {
	err := f.shelf.walk(prefix, func(key string, r record, err error) bool {
		if err != nil {
			f.fault(fmt.Errorf("cannot read fact %q: %w", key, err))
			return true
		}
		return r.expires <= f.now().UnixNano() || visit(key, Fact{r.value, r.version})
	})
	if err != nil {
		return fmt.Errorf("cannot scan facts %q: %w", shown(prefix), err)
	}
	return nil
}

// until is when a fact expires that is to be kept from now on.
func (f *facts) until(keep time.Duration) int64 { return f.now().Add(min(keep, longest)).UnixNano() }

func check(key string, value []byte, keep time.Duration) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if len(value) > MaxValue {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(value), MaxValue)
	}
	if keep <= 0 {
		return fmt.Errorf("it is to be kept for %v; want a time above 0", keep)
	}
	return nil
}

func checkKey(key string) error {
	if key == "" || len(key) > MaxKey {
		return fmt.Errorf("the key has %d bytes; want 1 to %d", len(key), MaxKey)
	}
	return nil
}

// shown keeps errors short, whatever the key.
func shown(key string) string { return key[:min(len(key), MaxKey)] }
