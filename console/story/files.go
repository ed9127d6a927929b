package story

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// files keeps events in a folder, as lines of JSON. A file is named by the time of its first line; each process, day
// and eighth of the quota has a file of its own. Without a folder nothing is kept.
type files struct {
	folder string
	keep   time.Duration
	quota  int64 // bytes of all files
	log    *slog.Logger

	pending bytes.Buffer // lines that are not written yet
	file    *os.File     // nil: none is open
	name    string       // of file
	size    int64        // of file
	failed  error        // of the last write; nil if it succeeded
}

// fileTime is the layout of the time in a file's name. Names sort by time.
const fileTime = "2006-01-02T15-04-05.000000"

// append adds a line, which flush writes.
func (f *files) append(n Entry) {
	if f.folder == "" {
		return
	}
	if err := json.NewEncoder(&f.pending).Encode(n); err != nil {
		f.log.Error("BUG: cannot encode an event", "error", err.Error())
	}
}

// flush writes the pending lines. Lines that cannot be written are dropped.
func (f *files) flush(now time.Time) {
	if f.pending.Len() == 0 {
		return
	}
	err := f.write(now)
	if err != nil {
		f.close()
		if f.failed == nil {
			f.log.Warn("cannot write events to disk; they are kept in memory until epitome ends", "error", err.Error())
		}
	} else if f.failed != nil {
		f.log.Info("events are written to disk again")
	}
	f.failed = err
	f.pending.Reset()
}

func (f *files) write(now time.Time) error {
	name := now.UTC().Format(fileTime) + ".jsonl"
	if f.file != nil && (f.size > f.quota/8 || day(f.name) != day(name)) {
		f.close()
	}
	if f.file == nil {
		if err := os.MkdirAll(f.folder, 0o700); err != nil {
			return err
		}
		file, err := os.OpenFile(filepath.Join(f.folder, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		f.file, f.name, f.size = file, name, 0
	}
	n, err := f.file.Write(f.pending.Bytes())
	f.size += int64(n)
	return err
}

// day returns the date at the beginning of a file's name.
func day(name string) string { return name[:len(time.DateOnly)] }

func (f *files) close() {
	if f.file != nil {
		_ = f.file.Close() // what was written is in the file
	}
	f.file = nil
}

// list returns the names of the files, the oldest first.
func (f *files) list() []string {
	all, _ := fs.Glob(os.DirFS(f.folder), "????-??-??T*.jsonl") // a folder that cannot be read has none
	return all
}

// tidy removes the files that are too old, and the oldest ones while all are larger than the quota.
func (f *files) tidy(now time.Time) {
	var size int64
	sizes := map[string]int64{}
	for _, name := range f.list() {
		if info, err := os.Stat(filepath.Join(f.folder, name)); err == nil {
			sizes[name] = info.Size()
			size += info.Size()
		}
	}
	oldest := now.Add(-f.keep).UTC().Format(time.DateOnly)
	for _, name := range f.list() {
		if isOpen := f.file != nil && f.name == name; !isOpen && (day(name) < oldest || size > f.quota) {
			_ = os.Remove(filepath.Join(f.folder, name)) // tried again at the next time
			size -= sizes[name]
		}
	}
}

// read calls do with each line of all files, the oldest first. It goes on after a file that cannot be read.
func (f *files) read(do func(line []byte)) error {
	var errs []error
	for _, name := range f.list() {
		file, err := os.Open(filepath.Join(f.folder, name))
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
