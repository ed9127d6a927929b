package offload

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"epitome/offload/bucket"
	"epitome/store"
)

// remote is a Place in a bucket, and the Facts of what lies there, as objects have them beside their contents. So no
// store that is lost takes artifacts with it.
type remote struct{ bucket *bucket.Bucket }

// Secret does what Place says.
func (r remote) Secret() ([]byte, error) { return r.bucket.Secret() }

// Write does what Place says. Until is a matter of the bucket.
func (r remote) Write(name string, content []byte, _ time.Time) error {
	return r.bucket.Write(name, content)
}

// Look does what Place says.
func (r remote) Look(name string) (Entry, error) {
	e, err := r.bucket.Look(name)
	return Entry{e.Size, e.Until}, err
}

// Open does what Place says.
func (r remote) Open(name string) (io.ReadSeekCloser, error) {
	content, err := r.bucket.Read(name)
	if err != nil {
		return nil, err
	}
	return unclosed{bytes.NewReader(content)}, nil
}

// Prolong does what Place says: all that is written again lives anew.
func (r remote) Prolong(name string, _ time.Time) error {
	return r.bucket.Renew(name)
}

// Drop leaves it: a rule of the bucket lets objects expire.
func (r remote) Drop(string, time.Time) (bool, error) { return false, nil }

// Names are none: what is used is for the bucket's owner to bound.
func (r remote) Names() ([]string, error) { return nil, nil }

// Tidy does what Place says: a write that breaks off leaves nothing.
func (r remote) Tidy(time.Time) (int, int64, error) { return 0, 0, nil }

// Get returns the metadata of an artifact.
func (r remote) Get(key string) (fact store.Fact, found bool) {
	e, err := r.bucket.Look(strings.TrimPrefix(key, FactKeys))
	if err != nil {
		return store.Fact{}, false
	}
	return store.Fact{Bytes: metadata{e.Size, e.Sum}.encode()}, true
}

// Put does nothing: Write puts the metadata beside the content.
func (r remote) Put(string, []byte, time.Duration) (uint64, error) { return 0, nil }

// Delete does nothing: metadata go with their content.
func (r remote) Delete(string) error { return nil }

// Scan visits nothing, likewise.
func (r remote) Scan(string, func(string, store.Fact) bool) error { return nil }

// Touch reports whether there are metadata; they live as long as their content.
func (r remote) Touch(key string, _ time.Duration) (bool, error) {
	_, found := r.Get(key)
	return found, nil
}

// unsure reports whether nobody can tell if a content is there: then what was put counts as there.
func unsure(s *Shelf, name string) bool {
	if s.remote == nil {
		return false
	}
	_, err := s.remote.Look(name)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}
