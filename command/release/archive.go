package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is one of an archive.
type file struct {
	name string // with slashes
	text []byte
	runs bool // it is a program
}

// mode is the file's rights.
func (f file) mode() os.FileMode {
	if f.runs {
		return 0o755
	}
	return 0o644
}

// archived is the archive of a build: its files in order, all of the commit's time and nobody's, below one folder.
func archived(b build, files []file, date time.Time) ([]byte, error) {
	slices.SortFunc(files, func(x, y file) int { return cmp.Compare(x.name, y.name) })
	write := writeTar
	if b.system == "windows" {
		write = writeZip
	}
	var out bytes.Buffer
	err := write(&out, b.name(), files, date)
	return out.Bytes(), err
}

func writeTar(to io.Writer, folder string, files []file, date time.Time) error {
	packed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(packed)
	for _, f := range files {
		err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.text)),
			Mode: int64(f.mode()), ModTime: date, Format: tar.FormatUSTAR})
		if err != nil {
			return err
		}
		if _, err := out.Write(f.text); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return packed.Close()
}

func writeZip(to io.Writer, folder string, files []file, date time.Time) error {
	out := zip.NewWriter(to)
	for _, f := range files {
		head := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: date}
		head.SetMode(f.mode())
		in, err := out.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := in.Write(f.text); err != nil {
			return err
		}
	}
	return out.Close()
}

// sumsFile has the checksum of each file of a release, as sha256sum -c reads it.
const sumsFile = "SHA256SUMS"

func writeSums(out string) error {
	names, err := filepath.Glob(filepath.Join(out, "epitome_*"))
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), filepath.Base(name))
	}
	return os.WriteFile(filepath.Join(out, sumsFile), []byte(sums.String()), 0o644)
}
