package offload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"epitome/store"
)

// Sweep deletes what nobody wants any more: contents that have expired, what writes of more than an hour ago have left,
// and metadata without a content. It returns how many files it has deleted and their bytes, and counts anew what is
// used. What it cannot delete it leaves for the next time and tells the first reason. Other methods may run meanwhile;
// a second Sweep waits.
func (s *Shelf) Sweep(ctx context.Context) (n int, bytes int64, err error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	n, bytes, err = s.sweep(ctx)
	if err != nil {
		return n, bytes, fmt.Errorf("cannot sweep the shelf of artifacts: %w", cause(err))
	}
	return n, bytes, nil
}

func (s *Shelf) sweep(ctx context.Context) (n int, bytes int64, err error) {
	s.budget.beginCount()
	names, err := s.place.Names()
	if err != nil { // where the folder cannot be read, its contents are not gone
		s.budget.dropCount()
		return 0, 0, err
	}
	n, bytes, err = s.place.Tidy(s.now())
	for _, name := range names {
		if ctx.Err() != nil {
			s.budget.dropCount()
			return n, bytes, ctx.Err()
		}
		size, freed, failed := s.consider(name)
		err = cmp.Or(err, failed)
		if freed {
			n++
			bytes += size
		}
	}
	s.budget.endCount()
	return n, bytes, cmp.Or(err, s.sweepMetadata(ctx))
}

// consider deletes the content under name if it has expired, by our metadata as by its time: of contents that other
// processes put here, we have the time only.
func (s *Shelf) consider(name string) (size int64, freed bool, err error) {
	defer s.lock(name).Unlock()
	there, err := s.place.Look(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return 0, false, err
	}
	_, live := s.metadata(name)
	if !live && !there.Until.After(s.now()) {
		freed, err = s.place.Drop(name, s.now())
	}
	if freed {
		s.budget.changed(name, 0, there.Size)
	} else {
		s.budget.saw(name, there.Size)
	}
	return there.Size, freed, err
}

func (s *Shelf) sweepMetadata(ctx context.Context) error {
	var gone []string
	err := s.store.Scan(keyPrefix, func(key string, _ store.Fact) bool {
		name := strings.TrimPrefix(key, keyPrefix)
		if IsName(name) && s.absent(name) {
			gone = append(gone, name)
		}
		return ctx.Err() == nil
	})
	for _, name := range gone {
		err = cmp.Or(err, s.forget(name))
	}
	return cmp.Or(err, ctx.Err())
}

func (s *Shelf) absent(name string) bool {
	_, err := s.place.Look(name)
	return errors.Is(err, fs.ErrNotExist)
}

// forget deletes the metadata of name if the content is still absent: a Put may have been at it.
func (s *Shelf) forget(name string) error {
	defer s.lock(name).Unlock()
	if !s.absent(name) {
		return nil
	}
	return ofStore(s.store.Delete(keyOf(name)))
}
