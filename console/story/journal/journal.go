// Package journal is lines in files, one file a day, and a snapshot of what they come to.
//
// It promises that no call fails or waits for more than the disk: what cannot be written is said once in the log, and
// waits until it can, the newest megabyte of it; that a file which cannot be read is set aside and noted; and that its
// folder stays within its quota, and holds nothing that is older than it keeps. What the lines say must not matter, but
// that each is one line.
package journal

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"time"
)

// Options say where lines lie, and how long.
type Options struct {
	Folder string        // made when it is needed; empty: nothing is written
	Keep   time.Duration // after which a file goes
	Quota  int64         // bytes of all files together; the oldest ones go first
	Now    func() time.Time
	Log    *slog.Logger
}

const (
	retryAfter  = 30 * time.Second // after something could not be written
	bufferSize  = 64 << 10         // bytes of lines that are written at once
	mostPending = 1 << 20          // bytes of lines that wait while nothing can be written
	largestPart = 64 << 20         // bytes of a file, behind which a day gets another one
)

// Journal is the files of a folder. One goroutine writes and reads; Notes may be called from any, too.
type Journal struct {
	folder *folder
	tidier tidier
	end    context.CancelFunc // of what runs beside the writer
	name   fileName           // of the file that is written
	begun  string             // day by the clock on which that was opened: its name may be of a later one
	file   *os.File           // nil: none is open
	// pending is whole lines that are not in the file yet. While nothing can be written, the oldest go beyond
	// mostPending.
	pending []byte
	at      int64     // bytes of the file, with those that are pending
	failed  time.Time // when writing failed, until it goes again
}

// New returns the Journal of a folder. It touches nothing yet.
func New(o Options) *Journal {
	life, end := context.WithCancel(context.Background())
	f := &folder{o: o, life: life}
	return &Journal{folder: f, tidier: tidier{folder: f}, end: end}
}

// Position is a place between two lines.
type Position struct {
	File   string `json:"file"` // without what its ending says of how it is written
	Offset int64  `json:"offset"`
}

// Position is the place behind the last line that was written. It is where Flush has come to.
func (j *Journal) Position() Position {
	if j.file == nil {
		return Position{}
	}
	return Position{j.name.String(), j.at}
}

// Append writes a line, without its end, in some time; Flush writes it now. What cannot be written waits until it can.
func (j *Journal) Append(line []byte) {
	if j.folder.o.Folder == "" {
		return
	}
	ready := j.ready()
	j.pending = append(append(j.pending, line...), '\n')
	if !ready {
		j.pending = newest(j.pending)
		return
	}
	if j.at += int64(len(line)) + 1; len(j.pending) >= bufferSize {
		j.Flush()
	}
}

// newest is the last lines of pending ones, as many as may wait.
func newest(pending []byte) []byte {
	over := len(pending) - mostPending
	if over <= 0 {
		return pending
	}
	cut := over + bytes.IndexByte(pending[over:], '\n') + 1
	return append(pending[:0], pending[cut:]...)
}

// ready opens the file of the day, if need be and if it can.
func (j *Journal) ready() bool {
	if j.file == nil && j.rests() {
		return false
	}
	today := j.folder.o.Now().Format(time.DateOnly)
	if j.file != nil && j.name.day >= today && j.begun == today && j.at < j.largest() {
		return true
	}
	next := nextName(j, today)
	turned := j.file != nil
	if turned {
		j.Flush()
		j.shut()
	}
	if err := j.open(next); err != nil {
		j.fail(err)
		return false
	}
	if turned {
		j.Tidy()
	}
	return true
}

// nextName is the file that is written next: of today, unless a later day has one. A clock may be set back, and a
// machine may move west, but what is written later must not stand in front of what was written before: who reads goes
// by names. Of a later day, each day has parts of its own, so that they go after store.keep.
func nextName(j *Journal, today string) fileName {
	var newest fileName
	if j.file != nil {
		newest = fileName{j.name.day, j.name.part + 1}
	} else if files := j.folder.list(); len(files) > 0 {
		newest = files[len(files)-1].fileName // of its day, earlier parts may be gone
	}
	if newest.day < today {
		return fileName{today, 1}
	}
	return newest
}

// rests tells whether it is too early to try again.
func (j *Journal) rests() bool {
	return !j.failed.IsZero() && j.folder.o.Now().Sub(j.failed) < retryAfter
}

// largest is how large a file may become: a quota of a few files leaves some of them.
func (j *Journal) largest() int64 { return min(largestPart, max(1, j.folder.o.Quota/4)) }

// open begins to write behind what a file has, or its next part if that is large or was put away.
func (j *Journal) open(name fileName) error {
	if err := os.MkdirAll(j.folder.o.Folder, 0o700); err != nil {
		return err
	}
	today := j.folder.o.Now().Format(time.DateOnly)
	for {
		path := j.folder.path(name.String())
		_, zipped := os.Lstat(path + zip)
		held, err := os.Stat(path)
		goesOn := err != nil || held.Size() < j.largest() && (name.day <= today || dayChanged(held) == today)
		if zipped != nil && goesOn {
			break
		}
		name.part++
	}
	file, err := os.OpenFile(j.folder.path(name.String()), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	j.file, j.name, j.begun, j.at = file, name, today, int64(len(j.pending))
	if held, err := file.Stat(); err == nil {
		j.at += held.Size()
		j.endTornLine(held.Size())
	}
	return nil
}

// endTornLine begins a new line, if the last one of so many bytes was broken off.
func (j *Journal) endTornLine(size int64) {
	var last [1]byte
	_, err := j.file.ReadAt(last[:], size-1)
	if err == nil && last[0] != '\n' && !bytes.HasPrefix(j.pending, []byte{'\n'}) {
		j.pending = append([]byte{'\n'}, j.pending...)
		j.at++
	}
}

// Flush writes what was appended, and what could not be written before if it is time to try that again.
func (j *Journal) Flush() {
	if len(j.pending) == 0 || j.file == nil && !j.ready() {
		return
	}
	held := j.at - int64(len(j.pending))
	n, err := j.file.Write(j.pending)
	if err != nil { // a line of which only the beginning was written comes again
		n = bytes.LastIndexByte(j.pending[:n], '\n') + 1
		cutTornLine(j.file, held+int64(n))
	}
	j.pending = append(j.pending[:0], j.pending[n:]...)
	if err != nil {
		j.fail(err)
		return
	}
	recovered(j)
}

// cutTornLine takes away what a write that failed has left behind the first bytes of a file. Where that fails, the next
// line begins behind what is left.
func cutTornLine(file *os.File, end int64) {
	if held, err := file.Stat(); err == nil && held.Size() > end {
		_ = file.Truncate(end)
	}
}

// recovered notes that writing goes again.
func recovered(j *Journal) {
	if !j.failed.IsZero() {
		j.failed = time.Time{}
		j.folder.setDown(false)
		j.folder.o.Log.Info("what happens is written to disk again", "folder", j.folder.o.Folder)
	}
}

// fail lets go of the file until it is tried again.
func (j *Journal) fail(err error) {
	if j.failed.IsZero() {
		j.folder.o.Log.Warn("what happens cannot be written to disk; it goes on in memory, and is lost if epitome ends before there is room",
			"error", err.Error(), "do", "make room on the disk, or see to the folder; epitome tries again by itself")
	}
	j.failed = j.folder.o.Now()
	j.folder.setDown(true)
	j.shut()
}

func (j *Journal) shut() {
	if j.file != nil {
		_ = j.file.Close()
	}
	j.file = nil
}

// Retry writes what could not be written, without waiting until its time has come.
func (j *Journal) Retry() {
	if j.failed.IsZero() {
		return
	}
	j.failed = j.failed.Add(-retryAfter)
	j.Flush()
}

// Save puts a snapshot in the place of the one before, whole or not at all. It reports whether it has.
func (j *Journal) Save(snapshot []byte) bool {
	if j.folder.o.Folder == "" || j.rests() {
		return false
	}
	if err := j.save(snapshot); err != nil {
		j.fail(err)
		return false
	}
	if len(j.pending) == 0 {
		recovered(j)
	}
	return true
}

// snapshotName is what the snapshot is called.
const snapshotName = "fold.json"

func (j *Journal) save(snapshot []byte) error {
	if err := os.MkdirAll(j.folder.o.Folder, 0o700); err != nil {
		return err
	}
	fresh := j.folder.path(snapshotName + fresh)
	file, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(snapshot)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		return os.Rename(fresh, j.folder.path(snapshotName))
	}
	_ = os.Remove(fresh)
	return err
}

// mostSnapshot is more than a snapshot has, in bytes.
const mostSnapshot = 64 << 20

// Snapshot returns the one that was saved last; nil if there is none.
func (j *Journal) Snapshot() []byte {
	if j.folder.o.Folder == "" {
		return nil
	}
	file, err := os.Open(j.folder.path(snapshotName))
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	snapshot, err := io.ReadAll(io.LimitReader(file, mostSnapshot))
	if err != nil {
		j.SetAside(err)
		return nil
	}
	return snapshot
}

// SetAside keeps a snapshot that cannot be used out of the way.
func (j *Journal) SetAside(err error) { j.folder.setAside(snapshotName, err) }

// Note adds a sentence to the notes.
func (j *Journal) Note(text string) { j.folder.note(text) }

// Notes are what readers of figures should know.
func (j *Journal) Notes() []string { return j.folder.listNotes() }

// After returns the newest lines behind a place, at most that many, the oldest first. Of an archive all lines come: who
// reads must know which ones it has. It may be called from any goroutine.
func (j *Journal) After(place Position, most int) [][]byte { return j.folder.after(place, most) }

// Tidy zips the files that are not written any more, and takes away those that are too old or too many, beside the
// writer. While one runs, another does nothing.
func (j *Journal) Tidy() {
	if j.folder.o.Folder == "" {
		return
	}
	now, written := j.folder.o.Now(), j.name
	if j.file == nil {
		written = nextName(j, now.Format(time.DateOnly)) // it may be written next
	}
	j.tidier.start(now, written)
}

// Close writes what was appended, and ends what runs.
func (j *Journal) Close() {
	j.Flush()
	j.shut()
	j.end()
	j.tidier.done.Wait()
}
