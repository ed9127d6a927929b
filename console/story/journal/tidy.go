package journal

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// tidier zips files and takes them away. Its zero value needs a folder.
type tidier struct {
	folder   *folder
	running  atomic.Bool
	unzipped bool // the last file could not be zipped
	done     sync.WaitGroup
}

func (t *tidier) start(now time.Time, written fileName) {
	if !t.running.CompareAndSwap(false, true) {
		return
	}
	t.done.Go(func() {
		defer t.running.Store(false)
		t.tidy(now, written)
	})
}

func (t *tidier) tidy(now time.Time, written fileName) {
	today, oldest := now.Format(time.DateOnly), now.Add(-t.folder.o.Keep).Format(time.DateOnly)
	for _, h := range t.folder.list() {
		switch {
		case h.day < oldest || h.day > today && h.changed < oldest && h.compare(written) < 0:
			_ = os.Remove(t.folder.path(h.base())) // tried again the next time
		case !h.zipped && h.compare(written) < 0:
			t.zipOrSay(h)
		}
	}
	t.removeLeftovers(oldest)
	files, size := t.folder.list(), int64(0)
	for _, h := range files {
		size += h.size
	}
	for _, h := range files {
		if size <= t.folder.o.Quota || h.compare(written) >= 0 {
			return
		}
		if os.Remove(t.folder.path(h.base())) == nil {
			size -= h.size
		}
	}
}

// zipOrSay says once that files cannot be zipped.
func (t *tidier) zipOrSay(h held) {
	err := t.zip(h)
	if err != nil && t.folder.life.Err() == nil && !t.unzipped {
		t.folder.o.Log.Warn("a file of what has happened cannot be zipped; it stays as it is for now",
			"file", h.base(), "error", err.Error())
	}
	t.unzipped = err != nil
}

// zip puts an archive in the place of a file.
func (t *tidier) zip(h held) error {
	from, err := os.Open(t.folder.path(h.base()))
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	archive := t.folder.path(h.String() + zip)
	to, err := os.OpenFile(archive+fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	packed := gzip.NewWriter(to)
	_, err = io.Copy(packed, &until{t.folder.life, from})
	if err == nil {
		err = packed.Close()
	}
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err == nil {
		_ = from.Close() // some systems remove no file that is open
		t.folder.moving.Lock()
		defer t.folder.moving.Unlock()
		err = os.Rename(archive+fresh, archive)
	}
	if err != nil {
		_ = os.Remove(archive + fresh)
		return err
	}
	return os.Remove(t.folder.path(h.base()))
}

// removeLeftovers takes away what was being zipped when epitome was killed, and what was set aside long ago.
func (t *tidier) removeLeftovers(oldest string) {
	entries, err := os.ReadDir(t.folder.o.Folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		about, err := e.Info()
		aside := strings.HasSuffix(e.Name(), damaged) && err == nil &&
			dayChanged(about) < oldest
		if strings.HasSuffix(e.Name(), lines+zip+fresh) || aside {
			_ = os.Remove(t.folder.path(e.Name()))
		}
	}
}

// until reads until its time is over.
type until struct {
	ctx context.Context //nolint:containedctx // it lives as long as one file is read
	io.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}
