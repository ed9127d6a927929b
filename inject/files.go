package inject

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// FilesConfig is the table [context] of config.toml.
type FilesConfig struct {
	Names []string `toml:"names"` // of the contexts for all conversations
}

// Files are the text files that people keep for conversations, in a folder for each context. A file is there whole or
// not at all, also while others add and remove files.
type Files struct{ folder string }

// FilesIn returns the context files in a data folder.
func FilesIn(data string) Files { return Files{filepath.Join(data, "contexts")} }

// Bounds of one context.
const (
	MaxFileBytes    = 10 << 20
	MaxFiles        = 200
	MaxContextBytes = 64 << 20 // of all its files
)

// ErrNoFiles says that a context has no files.
var ErrNoFiles = errors.New("nothing is kept under that name")

// File is a file of a context.
type File struct {
	Name  string
	Bytes int64
}

// NewFile is a file to keep.
type NewFile struct {
	Name string
	Text []byte
}

// CheckContext returns an error if a name cannot be a context's.
func CheckContext(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	if len(name) > 64 || strings.Trim(name, letters+"._-") != "" || strings.IndexAny(name, letters) != 0 {
		return fmt.Errorf("cannot use the name %.80q: write up to 64 of a-z, 0-9, dot, dash and underscore, with a letter or "+
			"digit first", name)
	}
	return nil
}

// Has reports whether a context has files.
func (f Files) Has(context string) bool {
	_, err := f.List(context)
	return err == nil
}

// Knows reports whether a context has files or had some: conversations that have begun with it keep naming it.
func (f Files) Knows(context string) bool {
	_, err := os.Stat(filepath.Join(f.folder, context))
	return err == nil && CheckContext(context) == nil
}

// Names returns the contexts that have files, sorted.
func (f Files) Names() (names []string, err error) {
	entries, err := os.ReadDir(f.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && f.Has(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// List returns the files of a context, sorted. The error is ErrNoFiles if it has none.
func (f Files) List(context string) (list []File, err error) {
	if err := CheckContext(context); err != nil {
		return nil, ErrNoFiles
	}
	entries, err := os.ReadDir(filepath.Join(f.folder, context))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			list = append(list, File{e.Name(), info.Size()})
		}
	}
	if len(list) == 0 {
		return nil, ErrNoFiles
	}
	return list, nil
}

// Read returns the content of a file.
func (f Files) Read(context, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(f.folder, context, name))
}

// Add keeps files in a context, in the place of those of the same names. If one of them cannot be kept, none is.
func (f Files) Add(context string, files []NewFile) error {
	if err := CheckContext(context); err != nil {
		return err
	}
	list, err := f.List(context)
	if err != nil && !errors.Is(err, ErrNoFiles) {
		return err
	}
	sizes := map[string]int64{}
	for _, file := range list {
		sizes[file.Name] = file.Bytes
	}
	for _, file := range files {
		if err := file.check(); err != nil {
			return err
		}
		sizes[file.Name] = int64(len(file.Text))
	}
	all := int64(0)
	for _, size := range sizes {
		all += size
	}
	if len(sizes) > MaxFiles || all > MaxContextBytes {
		return fmt.Errorf("cannot keep %d files of %d bytes under one name: it may have %d files and %d bytes; use several names",
			len(sizes), all, MaxFiles, MaxContextBytes)
	}
	if err := os.MkdirAll(filepath.Join(f.folder, context), 0o700); err != nil {
		return err
	}
	for _, file := range files {
		if err := f.write(context, file); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if a file cannot be kept.
func (f NewFile) check() error {
	switch {
	case f.Name == "" || f.Name == "." || f.Name == ".." || len(f.Name) > 120 || !utf8.ValidString(f.Name) ||
		strings.ContainsAny(f.Name, "\x00\r\n/\\"):
		return fmt.Errorf("cannot keep a file called %.80q: its name must be one line of up to 120 bytes", f.Name)
	case len(f.Text) > MaxFileBytes:
		return fmt.Errorf("cannot keep %q: it has %d bytes, and a file may have %d; cut it into several", f.Name,
			len(f.Text), MaxFileBytes)
	case !utf8.Valid(f.Text) || bytes.IndexByte(f.Text, 0) >= 0:
		return fmt.Errorf("cannot keep %q: it is no text in UTF-8; convert it first", f.Name)
	}
	return nil
}

// write writes a file whole, in the place of the one that stands there.
func (f Files) write(context string, file NewFile) error {
	temp, err := os.CreateTemp(f.folder, "new-")
	if err != nil {
		return err
	}
	_, err = temp.Write(file.Text)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(f.folder, context, file.Name))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// Remove removes files of a context, or all of them if none is named. If one is not there, none is removed. The context
// stays known.
func (f Files) Remove(context string, names ...string) error {
	list, err := f.List(context)
	if err != nil {
		return err
	}
	var kept []string
	for _, file := range list {
		kept = append(kept, file.Name)
	}
	if len(names) == 0 {
		names = kept
	}
	for _, name := range names {
		if !slices.Contains(kept, name) {
			return fmt.Errorf("there is no file %.80q under that name", name)
		}
	}
	for _, name := range names {
		err = errors.Join(err, os.Remove(filepath.Join(f.folder, context, name)))
	}
	return err
}
