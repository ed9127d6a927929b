package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
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

	pending bytes.Buffer // lines that are not written yet
	file    *os.File     // nil: none is open
	size    int64        // of file
}

// fileName is the layout of a file's name. Names sort by time.
const fileName = "2006-01-02T15-04-05.000000.jsonl"

// day returns the date at the beginning of a file's name.
func day(path string) string { return filepath.Base(path)[:len(time.DateOnly)] }

// append adds a line, which flush writes.
func (j *journal) append(e Entry) {
	if j.folder != "" {
		_ = json.NewEncoder(&j.pending).Encode(e) // events can be encoded
	}
}

// flush writes the pending lines. Lines that a full disk refuses are written later, unless they become too many.
func (j *journal) flush(now time.Time) error {
	const mostPending = 4 << 20 // bytes
	if j.pending.Len() == 0 {
		return nil
	}
	err := j.open(now)
	if err == nil {
		var n int64
		n, err = j.pending.WriteTo(j.file)
		j.size += n
	}
	if j.pending.Len() > mostPending {
		j.pending.Reset()
		j.close() // it may end within a line
	}
	return err
}

// open opens a file, unless one is open that still may be written to.
func (j *journal) open(now time.Time) error {
	path := filepath.Join(j.folder, now.UTC().Format(fileName))
	if j.file != nil && j.size <= j.quota/8 && day(j.file.Name()) == day(path) {
		return nil
	}
	j.close()
	err := os.MkdirAll(j.folder, 0o700)
	if err == nil {
		j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	}
	return err
}

func (j *journal) close() {
	if j.file != nil {
		_ = j.file.Close() // what was written is in the file
	}
	j.file, j.size = nil, 0
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
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
		isOpen := j.file != nil && j.file.Name() == path
		if !isOpen && (day(path) < oldest || size > j.quota) {
			_ = os.Remove(path) // tried again at the next time
		}
	}
}

// read calls do with each line of all files, the oldest first. It goes on after a file that cannot be read.
func (j *journal) read(do func(line []byte)) (failed error) {
	for _, path := range j.list() {
		file, err := os.Open(path)
		lines := bufio.NewReader(file)
		for err == nil {
			var line []byte
			if line, err = lines.ReadBytes('\n'); len(line) > 1 {
				do(line)
			}
		}
		if err != io.EOF {
			failed = errors.Join(failed, err)
		}
		_ = file.Close() // it was only read
	}
	return failed
}
