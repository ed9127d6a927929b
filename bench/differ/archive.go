package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// archive is files by their path, with slashes, in the order in which they are written.
type archive []archived

// archived is one file. Its time matters: an artifact's time says when it may go.
type archived struct {
	path string
	text []byte
	time time.Time
}

// addFolder adds all files of a folder, below a prefix.
func (a *archive) addFolder(prefix, folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		inside, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		about, err := entry.Info()
		if err != nil {
			return err
		}
		*a = append(*a, archived{prefix + filepath.ToSlash(inside), text, about.ModTime()})
		return nil
	})
}

// find returns the text of a file; nil if there is none.
func (a archive) find(path string) []byte {
	for _, f := range a {
		if f.path == path {
			return f.text
		}
	}
	return nil
}

// extract writes the files below a prefix into a folder, for the user alone and with their times.
func (a archive) extract(prefix, folder string) error {
	for _, f := range a {
		inside, found := strings.CutPrefix(f.path, prefix)
		if !found {
			continue
		}
		path := filepath.Join(folder, filepath.FromSlash(inside))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.text, 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, f.time, f.time); err != nil {
			return err
		}
	}
	return nil
}

// pack writes the archive as a compressed tar file.
func (a archive) pack() ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range a {
		head := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.path, Size: int64(len(f.text)), Mode: 0o600, ModTime: f.time,
			Format: tar.FormatPAX,
		}
		if err := t.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// unpack reads what pack has written.
func unpack(packed []byte) (a archive, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("cannot read the archive: %w", err)
	}
	for t := tar.NewReader(z); ; {
		head, err := t.Next()
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the archive: %w", err)
		}
		if !filepath.IsLocal(head.Name) {
			return nil, fmt.Errorf("cannot read the archive: it has the path %q", head.Name)
		}
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s in the archive: %w", head.Name, err)
		}
		a = append(a, archived{head.Name, text, head.ModTime})
	}
}
