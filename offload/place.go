package offload

import (
	"io"
	"time"
)

// Place holds contents by name: as files in a folder, or in memory. A Shelf gives it well-formed names only, and calls
// one method at a time for a name, except Open. An absent content is fs.ErrNotExist. Other processes may use the same
// place.
type Place interface {
	// Secret returns the key of names. All who use the place get the same one.
	Secret() ([]byte, error)

	// Write puts content under name, in place of what was there. After an error what was there may be gone too.
	Write(name string, content []byte, until time.Time) error

	// Look returns what is known of the content under name without reading it.
	Look(name string) (Entry, error)

	// Open returns the content. It stays readable whatever happens to the name.
	Open(name string) (io.ReadSeekCloser, error)

	// Prolong changes until and nothing else.
	Prolong(name string, until time.Time) error

	// Drop deletes the content under name. freed is false if another process has just prolonged it; then it stays.
	Drop(name string, now time.Time) (freed bool, err error)

	// Names returns the names of all contents.
	Names() ([]string, error)

	// Tidy deletes what broken-off writes have left. n is how many files it has deleted, bytes their size.
	Tidy(now time.Time) (n int, bytes int64, err error)
}

// Entry is what can be known of a content without reading it.
type Entry struct {
	Size  int64     // bytes
	Until time.Time // when it may go
}
