package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// files keeps events in a folder, as lines of JSON in a file an hour, or in several if they are many. Without a folder
// nothing is kept. Processes that share a folder, as they may where the store is Redis, append whole lines.
type files struct {
	folder  string
	quota   int64        // bytes of all files
	pending bytes.Buffer // lines that are not written yet
}

// The layouts of an hour and of the name of a file that begins in it. Names sort by time.
const (
	hourName = "2006-01-02T15"
	fileName = "2006-01-02T15_0405.jsonl"
)

// append adds a line, which flush writes.
func (j *files) append(e Entry) {
	if j.folder == "" {
		return
	}
	_ = json.NewEncoder(&j.pending).Encode(e) // events can be encoded
}

// flush writes the pending lines. Those that a full disk refuses are written later, unless they become too many.
func (j *files) flush(now time.Time) error {
	const mostPending = 4 << 20 // bytes
	if j.pending.Len() == 0 {
		return nil
	}
	path, isNew := j.pathAt(now.UTC())
	err := j.write(path)
	if j.pending.Len() > mostPending {
		j.pending.Reset()
	}
	if isNew {
		j.tidy(time.Time{})
	}
	return err
}

// pathAt returns the file to write to at a time, and whether it begins: that of the hour, or the newest one if that is
// of this hour or of a clock that went ahead. A file with an eighth of the quota is full.
func (j *files) pathAt(now time.Time) (path string, isNew bool) {
	path = filepath.Join(j.folder, now.Format(fileName))
	all := j.list()
	if len(all) == 0 {
		return path, true
	}
	newest := all[len(all)-1]
	info, err := os.Stat(newest)
	isFull := err == nil && info.Size() > j.quota/8
	if !isFull && filepath.Base(newest) > now.Format(hourName) {
		return newest, false
	}
	if path <= newest { // it has to be the last by name
		path = strings.TrimSuffix(newest, filepath.Ext(newest)) + "_.jsonl"
	}
	return path, true
}

// write appends the pending lines to a file. After an error, those that are not written yet are pending, the first one
// maybe in part.
func (j *files) write(path string) error {
	if err := os.MkdirAll(j.folder, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = j.pending.WriteTo(file)
	return err
}

// list returns the paths of the files, the oldest first.
func (j *files) list() []string {
	all, _ := fs.Glob(os.DirFS(j.folder), "????-??-??T*.jsonl") // the pattern is well formed
	for i, name := range all {
		all[i] = filepath.Join(j.folder, name)
	}
	return all
}

// tidy removes the files of the days before oldest, and the oldest ones while all have more bytes than the quota, but
// not the newest one.
func (j *files) tidy(oldest time.Time) {
	all := j.list()
	var size int64 // of the file and of all newer ones
	for i, path := range slices.Backward(all) {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
		isOver := size > j.quota && i < len(all)-1
		if filepath.Base(path) < oldest.UTC().Format(time.DateOnly) || isOver {
			_ = os.Remove(path) // tried again at the next time
		}
	}
}

// rewrite replaces the content of each file, and the lines that are not written yet, by what edit makes of it. Lines
// that another process appends meanwhile may be lost.
func (j *files) rewrite(edit func(text []byte) []byte) error {
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

// Each calls do with all events that are kept, the oldest first.
func (b *Book) Each(do func(Entry)) error {
	b.flush()
	written := uint64(0)
	_, err := b.files.read(func(n Entry) {
		written = max(written, *n.Seq())
		do(n)
	})
	rest, _, _ := b.Since(written)
	for _, n := range rest {
		do(n)
	}
	return err
}

// Forget removes the events of the conversation with the id from memory and disk. Sums keep their figures until the Book
// is opened again. After an error some events may be gone, and it can be called again.
func (b *Book) Forget(id string) error {
	b.lock()
	defer b.mu.Unlock()
	mark := fmt.Appendf(nil, `"conversation":%q`, id) // within a text, its quotes would be escaped
	err := b.files.rewrite(func(text []byte) []byte {
		var rest bytes.Buffer
		for line := range bytes.Lines(text) {
			if !bytes.Contains(line, mark) {
				rest.Write(line)
			}
		}
		return rest.Bytes()
	})
	if err != nil {
		return fmt.Errorf("cannot remove events: %w", err)
	}
	delete(b.conversations, id)
	b.recent = slices.DeleteFunc(b.recent, func(n Entry) bool {
		line, _ := json.Marshal(n) // plain data
		return bytes.Contains(line, mark)
	})
	return nil
}
