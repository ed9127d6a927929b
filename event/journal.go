package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// journal keeps events in a folder, as lines of JSON. A file is named by the time of its first line; each process, day
// and eighth of the quota has a file of its own. Without a folder nothing is kept.
type journal struct {
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

// fileName is the layout of a file's name. Names sort by time.
const fileName = "2006-01-02T15-04-05.000000.jsonl"

// append adds a line, which flush writes.
func (j *journal) append(e Entry) {
	if j.folder == "" {
		return
	}
	if err := json.NewEncoder(&j.pending).Encode(e); err != nil {
		j.log.Error("BUG: cannot encode an event", "error", err.Error())
	}
}

// flush writes the pending lines. Lines that cannot be written are dropped.
func (j *journal) flush(now time.Time) {
	if j.pending.Len() == 0 {
		return
	}
	err := j.write(now)
	switch {
	case err != nil && j.failed == nil:
		j.log.Warn("cannot write events to disk; they are kept in memory until epitome ends", "error", err.Error())
	case err == nil && j.failed != nil:
		j.log.Info("events are written to disk again")
	}
	if err != nil {
		j.close()
	}
	j.failed = err
	j.pending.Reset()
}

func (j *journal) write(now time.Time) error {
	name := now.UTC().Format(fileName)
	if j.file != nil && (j.size > j.quota/8 || day(j.name) != day(name)) {
		j.close()
	}
	if j.file == nil {
		if err := os.MkdirAll(j.folder, 0o700); err != nil {
			return err
		}
		file, err := os.OpenFile(filepath.Join(j.folder, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		j.file, j.name, j.size = file, name, 0
	}
	n, err := j.file.Write(j.pending.Bytes())
	j.size += int64(n)
	return err
}

// day returns the date at the beginning of a file's name.
func day(name string) string { return name[:len(time.DateOnly)] }

func (j *journal) close() {
	if j.file != nil {
		_ = j.file.Close() // what was written is in the file
	}
	j.file = nil
}

// list returns the paths of the files, the oldest first.
func (j *journal) list() []string {
	all, _ := filepath.Glob(filepath.Join(j.folder, "????-??-??T*.jsonl")) // the pattern is well formed
	return all
}

// tidy removes the files that are too old, and the oldest ones while all are larger than the quota.
func (j *journal) tidy(now time.Time) {
	var size int64 // of the file and of all newer ones
	oldest := now.Add(-j.keep).UTC().Format(time.DateOnly)
	for _, path := range slices.Backward(j.list()) {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		size += info.Size()
		isOpen := j.file != nil && j.name == info.Name()
		if !isOpen && (day(info.Name()) < oldest || size > j.quota) {
			_ = os.Remove(path) // tried again at the next time
		}
	}
}

// read calls do with each line of all files, the oldest first. It goes on after a file that cannot be read.
func (j *journal) read(do func(line []byte)) error {
	var errs []error
	for _, path := range j.list() {
		file, err := os.Open(path)
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
