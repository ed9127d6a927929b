package offload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Sweep deletes what nobody wants any more: contents that have expired, what writes of more than an hour ago have left,
// and metadata without a content. It returns how many files it has deleted and their bytes, and counts anew what is
// used. What it cannot delete it leaves for the next time; the error is the first reason. Other methods may run
// meanwhile; a second Sweep waits.
func (s *Shelf) Sweep(ctx context.Context) (n int, bytes int64, err error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	w := sweep{shelf: s}
	if err := w.run(ctx); err != nil {
		return w.files, w.bytes, fmt.Errorf("cannot sweep the shelf of artifacts: %w", cause(err))
	}
	return w.files, w.bytes, nil
}

// sweep is one Sweep under way.
type sweep struct {
	shelf *Shelf
	files int   // that it has deleted
	bytes int64 // of these
}

func (w *sweep) run(ctx context.Context) error {
	place, budget := w.shelf.place, &w.shelf.budget
	budget.beginCount()
	names, err := place.Names()
	if err != nil { // where the folder cannot be read, its contents are not gone
		budget.dropCount()
		return err
	}
	w.files, w.bytes, err = place.Tidy(w.shelf.now())
	for _, name := range names {
		if ctx.Err() != nil {
			budget.dropCount()
			return ctx.Err()
		}
		err = cmp.Or(err, w.consider(name))
	}
	budget.endCount()
	return cmp.Or(err, w.sweepMetadata(ctx))
}

// consider deletes the content under name if it has expired, both by our metadata and by its time. Of contents that
// other processes put here, we have the time only.
func (w *sweep) consider(name string) error {
	s := w.shelf
	defer s.locks.lock(name).Unlock()
	there, err := s.place.Look(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	freed := false
	if _, live := s.catalogue.find(name); !live && !there.Until.After(s.now()) {
		freed, err = s.place.Drop(name, s.now())
	}
	if !freed {
		s.budget.saw(name, there.Size)
		return err
	}
	s.budget.change(name, 0, there.Size)
	w.files++
	w.bytes += there.Size
	return err
}

// sweepMetadata deletes metadata whose content is gone.
func (w *sweep) sweepMetadata(ctx context.Context) error {
	var gone []string
	err := w.shelf.catalogue.visit(func(name string) bool {
		if absent(w.shelf.place, name) {
			gone = append(gone, name)
		}
		return ctx.Err() == nil
	})
	for _, name := range gone {
		err = cmp.Or(err, w.forget(name))
	}
	return cmp.Or(err, ctx.Err())
}

// forget deletes the metadata of name if the content is still absent: a Put may have brought it meanwhile.
func (w *sweep) forget(name string) error {
	defer w.shelf.locks.lock(name).Unlock()
	if !absent(w.shelf.place, name) {
		return nil
	}
	return w.shelf.catalogue.forget(name)
}

func absent(p Place, name string) bool {
	_, err := p.Look(name)
	return errors.Is(err, fs.ErrNotExist)
}
