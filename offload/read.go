package offload

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Get returns the content under name as it was put, or ErrUnknown. Any other error says that the content may be there
// but cannot be read. The content belongs to the caller.
func (s *Shelf) Get(name string) ([]byte, error) {
	f, meta, err := s.find(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content := make([]byte, meta.size)
	_, err = io.ReadFull(f, content)
	if err != nil && !ended(err) {
		return nil, fmt.Errorf("cannot read artifact %s: %w", shown(name), cause(err))
	}
	if more, _ := f.Read(make([]byte, 1)); more != 0 || sha256.Sum256(content) != meta.sum {
		return nil, s.reportForged(name)
	}
	return content, nil
}

// Open does what Get does for contents of any size. It returns a reader of the content, which the caller closes, and
// the size in bytes. It has read the content once, and found it as it was put.
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
		err = s.reportForged(name)
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

// find opens what lies under name and returns it with its metadata. It has read nothing of it.
func (s *Shelf) find(name string) (io.ReadSeekCloser, metadata, error) {
	if !IsName(name) {
		return nil, metadata{}, ErrUnknown
	}
	meta, known := s.catalogue.find(name)
	if !known && unsure(s, name) {
		return nil, metadata{}, fmt.Errorf("cannot read artifact %s: its bucket does not answer", shown(name))
	}
	if !known && s.others {
		meta, known = meet(s, name)
	}
	if !known {
		return nil, metadata{}, ErrUnknown
	}
	there, err := s.place.Look(name)
	if err == nil && there.Size != meta.size {
		return nil, metadata{}, s.reportForged(name) // its size is not to decide how much memory is taken
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

// meet notes the metadata of a content that another process has put, as it lies there.
func meet(s *Shelf, name string) (meta metadata, ok bool) {
	defer s.locks.lock(name).Unlock()
	there, err := s.place.Look(name)
	if err != nil || !there.Until.After(s.now()) {
		return metadata{}, false
	}
	f, err := s.place.Open(name)
	if err != nil {
		return metadata{}, false
	}
	defer f.Close()
	hash := sha256.New()
	if meta.size, err = io.Copy(hash, f); err != nil || meta.size != there.Size {
		return metadata{}, false
	}
	copy(meta.sum[:], hash.Sum(nil))
	return meta, s.catalogue.record(name, meta) == nil
}

// reportForged logs that the content under name was changed, and returns ErrUnknown for the reader.
func (s *Shelf) reportForged(name string) error {
	s.log.Warn("an artifact's content is not what was put there: it counts as unknown", "artifact", shown(name))
	return ErrUnknown
}

// holds reports whether the content under name is the one that meta describes. It reads all of it.
func holds(p Place, name string, meta metadata) bool {
	f, err := p.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	same, err := meta.describes(f)
	return same && err == nil
}

// describes reports whether m is of what r gives. It reads r to its end, or until r is too long.
func (m metadata) describes(r io.Reader) (bool, error) {
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(r, m.size+1))
	return n == m.size && [sha256.Size]byte(hash.Sum(nil)) == m.sum, err
}

// ended reports whether err says that there was less than expected.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
