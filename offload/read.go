package offload

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Get returns the content under name as it was put, or ErrUnknown. Another error says that it may be there but cannot
// be read. The content belongs to the caller.
func (s *Shelf) Get(name string) ([]byte, error) {
	f, meta, err := s.find(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content := make([]byte, meta.size)
	if _, err := io.ReadFull(f, content); err != nil && !ended(err) {
		return nil, fmt.Errorf("cannot read artifact %s: %w", shown(name), cause(err))
	}
	if more, _ := f.Read(make([]byte, 1)); more != 0 || sha256.Sum256(content) != meta.sum {
		return nil, s.forged(name)
	}
	return content, nil
}

// Open is Get for contents of any size: it returns a reader of the content, which the caller closes, and its size. The
// content was read once to see that it is as it was put.
func (s *Shelf) Open(name string) (content io.ReadCloser, size int64, err error) {
	f, meta, err := s.find(name)
	if err != nil {
		return nil, 0, err
	}
	same, err := meta.describes(f)
	if err == nil && same {
		_, err = f.Seek(0, io.SeekStart)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("cannot read artifact %s: %w", shown(name), cause(err))
	case !same:
		err = s.forged(name)
	default:
		return limited{io.LimitReader(f, meta.size), f}, meta.size, nil
	}
	_ = f.Close()
	return nil, 0, err
}

type limited struct {
	io.Reader
	io.Closer
}

// find returns what lies under name, unread.
func (s *Shelf) find(name string) (io.ReadSeekCloser, metadata, error) {
	if !IsName(name) {
		return nil, metadata{}, ErrUnknown
	}
	meta, known := s.metadata(name)
	if !known {
		return nil, metadata{}, ErrUnknown
	}
	there, err := s.place.Look(name)
	if err == nil && there.Size != meta.size {
		return nil, metadata{}, s.forged(name) // its size is not to decide how much memory is taken
	}
	f, err := s.place.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, metadata{}, ErrUnknown
	}
	if err != nil {
		return nil, metadata{}, fmt.Errorf("cannot read artifact %s: %w", shown(name), cause(err))
	}
	return f, meta, nil
}

// forged says so to the log, and to the reader that there is nothing.
func (s *Shelf) forged(name string) error {
	s.log.Warn("an artifact's content is not what was put there: it counts as unknown", "artifact", shown(name))
	return ErrUnknown
}

// holds tells whether the content under name is the one that meta describes.
func (s *Shelf) holds(name string, meta metadata) bool {
	f, err := s.place.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	same, err := meta.describes(f)
	return same && err == nil
}

// describes reads r to its end, or until it is too long.
func (m metadata) describes(r io.Reader) (bool, error) {
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(r, m.size+1))
	return n == m.size && [sha256.Size]byte(hash.Sum(nil)) == m.sum, err
}

// ended tells whether err says that less was there than expected.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
