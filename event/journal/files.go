package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// files keeps events in a folder, as lines of JSON in a file an hour. Without a folder nothing is kept.
type files struct {
	folder  string
	pending bytes.Buffer // lines that are not written yet
}

// fileName is the layout of a file's name. Names sort by time.
const fileName = "2006-01-02T15.jsonl"

// append adds a line, which flush writes.
func (j *files) append(e Entry) {
	if j.folder == "" {
		return
	}
	_ = json.NewEncoder(&j.pending).Encode(e) // events can be encoded
}

// flush writes the pending lines. Lines that a full disk refuses are written later, unless they become too many.
func (j *files) flush(now time.Time) error {
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
func (j *files) write(path string) error {
	unlock, isAlone := j.lock()
	defer unlock()
	end := int64(0)
	if isAlone {
		var err error
		end, err = cutHalfLine(path)
		if err != nil {
			return err
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
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
func (j *files) lock() (unlock func(), isAlone bool) {
	lock := flock.New(filepath.Join(j.folder, "lock"), flock.SetPermissions(0o600))
	isAlone, err := lock.TryLock()
	return func() { _ = lock.Close() }, isAlone && err == nil
}

// mend cuts off half a line that a process which was killed has left at the end of the newest file.
func (j *files) mend() {
	if all := j.list(); len(all) > 0 {
		unlock, isAlone := j.lock()
		defer unlock()
		if isAlone {
			_, _ = cutHalfLine(all[len(all)-1]) // read leaves out what cannot be read
		}
	}
}

// cutHalfLine removes what stands behind the last line break of a file, and returns its size.
func cutHalfLine(path string) (size int64, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var last [1]byte
	size, err = file.Seek(0, io.SeekEnd)
	if err == nil && size > 0 {
		_, err = file.ReadAt(last[:], size-1)
	}
	if err != nil || size == 0 || last[0] == '\n' {
		return size, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	size = int64(bytes.LastIndexByte(text, '\n') + 1)
	return size, os.Truncate(path, size)
}

// list returns the paths of the files, the oldest first.
func (j *files) list() []string {
	all, _ := filepath.Glob(filepath.Join(j.folder, "????-??-??T*.jsonl")) // the pattern is well formed
	return all
}

// tidy removes the files of the days before oldest, and the oldest ones while all have more bytes than quota.
func (j *files) tidy(oldest time.Time, quota int64) {
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
func (j *files) rewrite(edit func(text []byte) []byte) error {
	unlock, _ := j.lock()
	defer unlock()
	for _, path := range j.list() {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		edited := edit(text)
		if bytes.Equal(edited, text) {
			continue
		}
		temp := path + ".new"
		err = os.WriteFile(temp, edited, 0o600)
		if err == nil {
			err = os.Rename(temp, path)
		}
		if err != nil {
			return err
		}
	}
	j.pending = *bytes.NewBuffer(edit(j.pending.Bytes()))
	return nil
}

// read calls do with each event of all files, the oldest first. It goes on after a file or a line that cannot be read,
// and returns how many such lines there are.
func (j *files) read(do func(Entry)) (unreadable int, failed error) {
	for _, path := range j.list() {
		text, err := os.ReadFile(path)
		failed = errors.Join(failed, err)
		for line := range bytes.Lines(text) {
			var n Entry
			if json.Unmarshal(line, &n) == nil && n.Seq() != nil {
				do(n)
			} else if len(line) > 1 {
				unreadable++
			}
		}
	}
	return unreadable, failed
}
