package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// journal keeps events in a folder, as lines of JSON in a file an hour. Without a folder nothing is kept.
type journal struct {
	folder  string
	pending bytes.Buffer // lines that are not written yet
	file    string       // the path of the file that was written last
}

// fileName is the layout of a file's name. Names sort by time.
const fileName = "2006-01-02T15.jsonl"

// append adds a line, which flush writes.
func (j *journal) append(e Entry) {
	if j.folder == "" {
		return
	}
	_ = json.NewEncoder(&j.pending).Encode(e) // events can be encoded
}

// flush writes the pending lines. Lines that a full disk refuses are written later, unless they become too many.
func (j *journal) flush(now time.Time) error {
	const mostPending = 4 << 20 // bytes
	if j.pending.Len() == 0 {
		return nil
	}
	err := os.MkdirAll(j.folder, 0o700)
	if err == nil {
		err = j.write(filepath.Join(j.folder, now.UTC().Format(fileName)))
	}
	if j.pending.Len() > mostPending {
		j.pending.Reset()
		j.file = "" // which may end within a line
	}
	return err
}

// write appends the pending lines to a file. If another process has left half a line there, they begin behind it.
func (j *journal) write(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if path != j.file {
		var last [1]byte
		end, err := file.Seek(0, io.SeekEnd)
		if err == nil && end > 0 {
			_, err = file.ReadAt(last[:], end-1)
		}
		if err == nil && end > 0 && last[0] != '\n' {
			_, err = file.Write([]byte{'\n'})
		}
		if err != nil {
			return err
		}
	}
	j.file = path
	_, err = j.pending.WriteTo(file)
	return err
}

// list returns the paths of the files, the oldest first.
func (j *journal) list() []string {
	all, _ := filepath.Glob(filepath.Join(j.folder, "????-??-??T*.jsonl")) // the pattern is well formed
	return all
}

// tidy removes the files of the days before oldest, and the oldest ones while all have more bytes than quota.
func (j *journal) tidy(oldest time.Time, quota int64) {
	var size int64 // of the file and of all newer ones
	for _, path := range slices.Backward(j.list()) {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
		if filepath.Base(path) < oldest.UTC().Format(time.DateOnly) || size > quota {
			_ = os.Remove(path) // tried again at the next time
		}
	}
}

// read calls do with each line of all files, the oldest first. It goes on after a file that cannot be read.
func (j *journal) read(do func(line []byte)) (failed error) {
	for _, path := range j.list() {
		text, err := os.ReadFile(path)
		failed = errors.Join(failed, err)
		for line := range bytes.Lines(text) {
			if len(line) > 1 {
				do(line)
			}
		}
	}
	return failed
}
