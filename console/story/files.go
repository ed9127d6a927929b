package story

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// files keeps lines in a folder, in one or more files a day. The oldest files go when all of them are larger than
// quota bytes, or after keep. Without a folder it does nothing.
type files struct {
	folder string
	keep   time.Duration
	quota  int64
	log    *slog.Logger

	pending []byte   // lines that are not written yet
	file    *os.File // nil: none is open
	name    string   // of file
	size    int64    // of file
	failed  error    // of the last write; nil if it succeeded
	lost    int      // lines that could not be written
}

// append adds a line, which flush writes.
func (f *files) append(line []byte) {
	if f.folder != "" {
		f.pending = append(append(f.pending, line...), '\n')
	}
}

// flush writes the pending lines. Lines that cannot be written are dropped.
func (f *files) flush(now time.Time) {
	if len(f.pending) == 0 {
		return
	}
	err := f.write(now)
	switch {
	case err != nil && f.failed == nil:
		f.log.Warn("cannot write events to disk; they are kept in memory until epitome ends", "error", err.Error())
	case err == nil && f.failed != nil:
		f.log.Info("events are written to disk again")
	}
	if f.failed = err; err != nil {
		for _, b := range f.pending {
			if b == '\n' {
				f.lost++
			}
		}
		f.close()
	}
	f.pending = f.pending[:0]
}

func (f *files) write(now time.Time) error {
	day := now.UTC().Format(time.DateOnly)
	if f.file == nil || f.name[:len(day)] != day || f.size > f.quota/8 {
		if err := f.open(day); err != nil {
			return err
		}
	}
	n, err := f.file.Write(f.pending)
	f.size += int64(n)
	return err
}

// open opens the newest file of a day, or the next one if that is large.
func (f *files) open(day string) error {
	f.close()
	if err := os.MkdirAll(f.folder, 0o700); err != nil {
		return err
	}
	f.name, f.size = day+"-001.jsonl", 0
	for _, held := range f.list() {
		var part int
		if _, err := fmt.Sscanf(held.Name(), day+"-%d.jsonl", &part); err != nil {
			continue
		}
		if f.name, f.size = held.Name(), held.Size(); f.size > f.quota/8 {
			f.name, f.size = fmt.Sprintf("%s-%03d.jsonl", day, part+1), 0
		}
	}
	file, err := os.OpenFile(filepath.Join(f.folder, f.name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	f.file = file
	var last [1]byte
	if _, err := file.ReadAt(last[:], f.size-1); err == nil && last[0] != '\n' { // the end of a line was not written
		_, err = file.Write([]byte{'\n'})
		return err
	}
	return nil
}

func (f *files) close() {
	if f.file != nil {
		_ = f.file.Close() // what was written is in the file
	}
	f.file = nil
}

// list returns the files, the oldest first.
func (f *files) list() (all []fs.FileInfo) {
	entries, _ := os.ReadDir(f.folder) // without a folder there are none
	for _, e := range entries {
		if match, _ := filepath.Match("????-??-??-???.jsonl", e.Name()); !match {
			continue
		}
		if info, err := e.Info(); err == nil {
			all = append(all, info)
		}
	}
	return all
}

// tidy removes the files that are too old, or too many.
func (f *files) tidy(now time.Time) {
	all, size := f.list(), int64(0)
	for _, held := range all {
		size += held.Size()
	}
	oldest := now.Add(-f.keep).UTC().Format(time.DateOnly)
	for _, held := range all {
		if (held.Name() < oldest || size > f.quota) && held.Name() != f.name {
			_ = os.Remove(filepath.Join(f.folder, held.Name())) // tried again at the next time
			size -= held.Size()
		}
	}
}

// read calls do with each line of all files, the oldest first. It goes on after a file that cannot be read.
func (f *files) read(do func(line []byte)) error {
	var errs []error
	for _, held := range f.list() {
		file, err := os.Open(filepath.Join(f.folder, held.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		lines := bufio.NewReader(file)
		for err == nil {
			var line []byte
			if line, err = lines.ReadBytes('\n'); len(line) > 1 {
				do(line)
			}
		}
		if err != io.EOF {
			errs = append(errs, err)
		}
		_ = file.Close() // it was only read
	}
	return errors.Join(errs...)
}
