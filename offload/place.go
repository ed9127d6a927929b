package offload

import (
	"io"
	"time"
)

// Place is where contents lie, by name: files in a folder, or memory. The names that a Shelf gives it are well-formed,
// and of one name one method runs at a time, except Open. Absence is fs.ErrNotExist. Other processes may use the same
// place.
type Place interface {
	// Secret is the key of names. All who use the place have the same one.
	Secret() ([]byte, error)

	// Write lays content under name in place of what was there. After an error what was there may be gone too.
	Write(name string, content []byte, until time.Time) error

	// Look tells what lies under name without reading it.
	Look(name string) (Entry, error)

	// Open returns the content, which stays readable whatever happens to the name.
	Open(name string) (io.ReadSeekCloser, error)

	// Prolong changes until and nothing else.
	Prolong(name string, until time.Time) error

	// Drop deletes what nobody wants: freed is false where another process has just prolonged it.
	Drop(name string, now time.Time) (freed bool, err error)

	// Names are those of all contents.
	Names() ([]string, error)

	// Tidy deletes what writes have left that did not come to their end.
	Tidy(now time.Time) (n int, bytes int64, err error)
}

// Entry is what can be known of a content without reading it.
type Entry struct {
	Size  int64     // bytes
	Until time.Time // when it may go
}
