package disk

import (
	"fmt"
	"sync"
	"time"

	"epitome/store"
)

const (
	memTableSize = 8 << 20  // bytes
	valueLogSize = 64 << 20 // bytes, sparse: no value is ever in it

	// valueThreshold is the size in bytes from which Badger would keep a value in the value log.
	valueThreshold = 1 << 20

	// reserve is what must stay free on the disk, in bytes. Badger writes through mapped files: where the disk is
	// full, a write is a fault that ends the process.
	reserve = max(512<<20, 2*(memTableSize+valueLogSize))

	// recheck is how long an answer about free space holds.
	recheck = time.Second
)

// space watches how much of the disk is free.
type space struct {
	folder string
	free   func(folder string) (uint64, error) // bytes
	now    func() time.Time
	files  rotation

	mu     sync.Mutex // guards all below
	asked  time.Time  // zero before the first time
	answer error
}

// check returns an error if too little is free, or if that cannot be known. Its look is not older than recheck.
func (s *space) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	age := now.Sub(s.asked)
	if s.asked.IsZero() || age < 0 || age >= recheck {
		s.asked, s.answer = now, s.atLeast(reserve)
	}
	return s.answer
}

// allow returns an error if a write of so many bytes, those of its key twice, may find no room.
func (s *space) allow(size int) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.files.allow(size)
}

// atLeast does what check does for want bytes, and looks now.
func (s *space) atLeast(want uint64) error {
	free, err := s.free(s.folder)
	if err != nil {
		return fmt.Errorf("cannot tell the free space of %s: %w", s.folder, err)
	}
	if free < want {
		return fmt.Errorf("%w: %d MB of %s are free; want %d MB", store.ErrNoSpace, free>>20, s.folder, want>>20)
	}
	return nil
}
