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

	"github.com/gofrs/flock"
)

// journal keeps events in a folder, as lines of JSON in a file an hour. Without a folder nothing is kept.
type journal struct {
	folder  string
	pending bytes.Buffer // lines that are not written yet
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
	}
	return err
}

// write appends the pending lines to a file, or none of them. It does not wait for another process that does the same.
func (j *journal) write(path string) error {
	unlock, isAlone := j.lock()
	defer unlock()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	_, err = file.Write(j.pending.Bytes())
	if err != nil && isAlone {
		err = errors.Join(err, os.Truncate(path, end))
	}
	if err != nil {
		return err
	}
	j.pending.Reset()
	return nil
}

// lock keeps other processes from cutting a file until unlock is called. isAlone is false where another one has the lock,
// and where the file system has no locks.
func (j *journal) lock() (unlock func(), isAlone bool) {
	lock := flock.New(filepath.Join(j.folder, "lock"), flock.SetPermissions(0o600))
	isAlone, err := lock.TryLock()
	return func() { _ = lock.Close() }, isAlone && err == nil
}

// mend cuts off half a line that a process which was killed has left at the end of the newest file.
func (j *journal) mend() {
	all := j.list()
	if len(all) == 0 {
		return
	}
	unlock, isAlone := j.lock()
	defer unlock()
	newest := all[len(all)-1]
	text, err := os.ReadFile(newest)
	end := bytes.LastIndexByte(text, '\n') + 1
	if err == nil && isAlone && end < len(text) {
		_ = os.Truncate(newest, int64(end)) // read leaves out what cannot be read
	}
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

// rewrite replaces the content of each file, and the lines that are not written yet, by what edit makes of it. Lines that
// another process appends meanwhile may be lost.
func (j *journal) rewrite(edit func(text []byte) []byte) error {
	unlock, _ := j.lock()
	defer unlock()
	for _, path := range j.list() {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		edited, temp := edit(text), path+".new"
		if bytes.Equal(edited, text) {
			continue
		}
		if err := errors.Join(os.WriteFile(temp, edited, 0o600), os.Rename(temp, path)); err != nil {
			return err
		}
	}
	j.pending = *bytes.NewBuffer(edit(j.pending.Bytes()))
	return nil
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
