package page

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"epitome/bench/replay/figures"
)

// File is a page that is being written beside where it is to stand, so that what stands there is always whole.
type File struct {
	to   string // empty: no page is wanted
	file *os.File
}

// Open finds out before a long run whether the page can be written. Nothing is written if to is empty.
func Open(to string) (File, error) {
	if to == "" {
		return File{}, nil
	}
	if s, err := os.Stat(to); err == nil && !s.Mode().IsRegular() {
		return File{}, fmt.Errorf("cannot write page %s: it is no ordinary file", to)
	}
	file, err := os.CreateTemp(filepath.Dir(to), ".epitome-*.html")
	if err != nil {
		return File{}, fmt.Errorf("cannot write page %s: %w", to, err)
	}
	return File{to, file}, nil
}

// Keep writes the page and puts it into its place.
func (f File) Keep(r *figures.Report, about About) error {
	if f.to == "" {
		return nil
	}
	err := Write(f.file, r, about)
	if err == nil {
		err = f.file.Chmod(0o644)
	}
	if err = errors.Join(err, f.file.Close()); err == nil {
		err = os.Rename(f.file.Name(), f.to)
	}
	if err != nil {
		return fmt.Errorf("cannot write page %s: %w", f.to, err)
	}
	return nil
}

// Drop removes what was not kept.
func (f File) Drop() {
	if f.to != "" {
		_ = f.file.Close()
		_ = os.Remove(f.file.Name()) // gone already if it was kept
	}
}
