package offload

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// tempAge is how old a temp must be to count as left behind.
const tempAge = time.Hour

// filePlace is a Place in a folder. Each content is a file under its name, readable by its owner alone. The file's
// modification time is the content's until. Other processes may use the folder at the same time. A temp is a file that
// is being written; it gets its name once it is whole.
type filePlace struct {
	folder    string // absolute
	extension string // of each file
	now       func() time.Time
	log       *slog.Logger
	save      func(path string, content []byte) error // saveNew, except in tests
	temps     *temps
}

// temps are those of this process. All places that it has in a folder share them.
type temps struct {
	mu      sync.Mutex
	writing map[string]bool // guarded by mu
}

// openFilePlace returns the place in o.Folder. It makes the folder of artifacts if there is none.
func openFilePlace(o Options) (*filePlace, error) {
	data, err := filepath.Abs(o.Folder)
	if err != nil {
		return nil, err
	}
	d := &filePlace{folder: filepath.Join(data, "artifacts"), extension: extension, now: o.Now, log: o.Log, save: saveNew,
		temps: &temps{writing: map[string]bool{}}}
	if err := d.makeFolder(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *filePlace) makeFolder() error {
	if err := os.MkdirAll(d.folder, 0o700); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(d.folder))
}

func (d *filePlace) path(name string) string { return filepath.Join(d.folder, name+d.extension) }

// temp returns a path that no other call returns. The path tells when it was made, by our clock.
func (d *filePlace) temp() string {
	return filepath.Join(d.folder, fmt.Sprintf(".%d-%s.tmp", d.now().Unix(), rand.Text()))
}

// leftBehind reports whether file is a temp of long ago, or one from the future: then the clock went back meanwhile.
func leftBehind(file string, now time.Time) bool {
	stamp, _, found := strings.Cut(strings.TrimPrefix(file, "."), "-")
	made, err := strconv.ParseInt(stamp, 10, 64)
	if !found || err != nil || !strings.HasPrefix(file, ".") || !strings.HasSuffix(file, ".tmp") {
		return false
	}
	return now.Sub(time.Unix(made, 0)).Abs() > tempAge
}

// Write does what Place says.
func (d *filePlace) Write(name string, content []byte, until time.Time) error {
	temp := d.temp()
	d.temps.note(temp, true)
	defer d.temps.note(temp, false)
	err := d.save(temp, content)
	if errors.Is(err, fs.ErrNotExist) { // someone has deleted the folder
		if err = d.makeFolder(); err == nil {
			err = d.save(temp, content)
		}
	}
	if err == nil {
		err = os.Chtimes(temp, until, until)
	}
	if err == nil {
		err = os.Rename(temp, d.path(name))
	}
	if err != nil {
		_ = os.Remove(temp) // else Sweep does
		return err
	}
	if err := syncFolder(d.folder); err != nil {
		_ = os.Remove(d.path(name))
		return err
	}
	return nil
}

// note notes whether temp is in use, and so keeps Tidy from it: a machine may sleep for hours during a write.
func (t *temps) note(temp string, inUse bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if inUse {
		t.writing[temp] = true
	} else {
		delete(t.writing, temp)
	}
}

func (t *temps) inUse(temp string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writing[temp]
}

// saveNew writes content to a new file at path. It survives a power failure once its folder is synced. After an error
// there is no such file.
func saveNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// syncFolder makes the names in folder survive a power failure, where the system can do that.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Look does what Place says.
func (d *filePlace) Look(name string) (Entry, error) {
	file, err := os.Lstat(d.path(name))
	if err != nil {
		return Entry{}, err
	}
	if !file.Mode().IsRegular() {
		return Entry{}, fs.ErrNotExist // nothing of ours; opening a pipe would wait for ever
	}
	return Entry{file.Size(), file.ModTime()}, nil
}

// Open does what Place says.
func (d *filePlace) Open(name string) (io.ReadSeekCloser, error) {
	if _, err := d.Look(name); err != nil {
		return nil, err
	}
	return os.Open(d.path(name))
}

// Prolong does what Place says.
func (d *filePlace) Prolong(name string, until time.Time) error {
	return os.Chtimes(d.path(name), until, until)
}

// Drop does what Place says. It moves the file aside before it looks for the last time, as another process may prolong
// it, or write it again, until then.
func (d *filePlace) Drop(name string, now time.Time) (freed bool, err error) {
	aside := d.temp()
	if err := os.Rename(d.path(name), aside); err != nil {
		return false, err
	}
	file, err := os.Lstat(aside)
	if err == nil && file.ModTime().After(now) {
		return false, os.Rename(aside, d.path(name))
	}
	return true, os.Remove(aside)
}

// Names does what Place says.
func (d *filePlace) Names() (all []string, err error) {
	files, err := d.list()
	for _, file := range files {
		if name, found := strings.CutSuffix(file, d.extension); found && IsName(name) {
			all = append(all, name)
		}
	}
	return all, err
}

func (d *filePlace) list() ([]string, error) {
	f, err := os.Open(d.folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// Tidy does what Place says.
func (d *filePlace) Tidy(now time.Time) (n int, bytes int64, err error) {
	files, err := d.list()
	for _, file := range files {
		path := filepath.Join(d.folder, file)
		if !leftBehind(file, now) || d.temps.inUse(path) {
			continue
		}
		left, failed := os.Lstat(path)
		if failed == nil {
			failed = os.Remove(path)
		}
		if errors.Is(failed, fs.ErrNotExist) { // it has got its name meanwhile
			continue
		}
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		n++
		bytes += left.Size()
	}
	return n, bytes, err
}
