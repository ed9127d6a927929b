package offload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// folder is a place in a folder. Each content is a file that its owner alone can read. The modification time of the
// file is its last renewal.
type folder struct {
	path       string // absolute
	secretFile string

	// sweeping keeps a file from being deleted between the look that finds it live and its renewal.
	sweeping sync.RWMutex
}

const tempPattern = ".*.tmp" // of a file that is being written

// OpenFolder returns the shelf whose files are in data/artifacts. It makes the folder if there is none.
func OpenFolder(data string, o Options) (*Shelf, error) {
	data, err := filepath.Abs(data)
	if err != nil {
		return nil, fmt.Errorf("cannot open the artifacts: %w", err)
	}
	f := &folder{path: filepath.Join(data, "artifacts"), secretFile: filepath.Join(data, "secret")}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return nil, fmt.Errorf("cannot open the artifacts: %w", err)
	}
	return (&Shelf{place: f, folder: f.path}).open(o)
}

func (f *folder) file(name string) string { return filepath.Join(f.path, fileOf(name)) }

// secret reads the secret file, and makes it if there is none. Of several processes that make it at once, one wins.
func (f *folder) secret() ([]byte, error) {
	info, err := os.Lstat(f.secretFile)
	isCut := err == nil && info.Mode().IsRegular() && info.Size() < secretSize
	if isCut { // nothing was ever named by it, as it was never read
		err = os.Remove(f.secretFile)
	}
	if isCut || errors.Is(err, fs.ErrNotExist) {
		err = writeFile(f.secretFile, newSecret(), link)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	secret, err := os.ReadFile(f.secretFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s links to a file that is not there: bring it back, or delete the link, and a new secret "+
			"is made", f.secretFile)
	case err == nil && len(secret) != secretSize:
		return nil, fmt.Errorf("%s does not have %d bytes: delete it, and a new secret is made", f.secretFile, secretSize)
	}
	return secret, errors.Join(err, os.Chmod(f.secretFile, 0o600))
}

func (f *folder) put(name string, content []byte) error {
	return writeFile(f.file(name), content, os.Rename)
}

// link gives a file another name, unless a file has that already. Where a file system has no links, it renames the file.
func link(file, name string) error {
	err := os.Link(file, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(file, name)
	}
	return err
}

// writeFile writes a file that settle then brings to its place, so that nobody sees a part of it.
func writeFile(path string, content []byte, settle func(temp, path string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { // somebody may have deleted it
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), tempPattern)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // if it is still there; where this process ends before, a sweep does
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return settle(temp.Name(), path)
}

func (f *folder) renew(name string, size int64, age time.Duration) (found bool, err error) {
	f.sweeping.RLock()
	defer f.sweeping.RUnlock()
	there, err := os.Stat(f.file(name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && size >= 0 && there.Size() != size {
		return false, nil
	}
	if now := time.Now(); err == nil && now.Sub(there.ModTime()).Abs() > age {
		err = os.Chtimes(f.file(name), now, now)
	}
	return err == nil, err
}

func (f *folder) get(name string) ([]byte, error) { return os.ReadFile(f.file(name)) }

func (f *folder) remove(name string) error {
	_, _, err := f.removeExpired(f.file(name), time.Now().AddDate(1, 0, 0)) // whenever it was renewed
	return err
}

func (f *folder) sweep(ctx context.Context, before time.Time) (swept Swept, err error) {
	entries, err := os.ReadDir(f.path)
	for _, e := range entries {
		if ctx.Err() != nil {
			return swept, ctx.Err()
		}
		name := strings.TrimSuffix(e.Name(), extension)
		isTemp, _ := filepath.Match(tempPattern, e.Name())
		if !isTemp && (fileOf(name) != e.Name() || !IsName(name)) {
			continue
		}
		expired := before
		if isTemp {
			expired = time.Now().Add(-time.Hour) // left behind by a write that a crash ended
		}
		size, gone, failed := f.removeExpired(filepath.Join(f.path, e.Name()), expired)
		err = errors.Join(err, failed)
		if gone {
			swept.Files++
			swept.Bytes += size
		} else {
			swept.Left += size
		}
	}
	return swept, err
}

// removeExpired deletes a file that was last modified before a time. It returns the size of the file in either case; 0
// if it is not there, as another process has swept it or its write has ended.
func (f *folder) removeExpired(path string, before time.Time) (size int64, gone bool, err error) {
	f.sweeping.Lock()
	defer f.sweeping.Unlock()
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	gone = info.ModTime().Before(before)
	if gone {
		err = os.Remove(path)
	}
	return info.Size(), gone, err
}

// cause returns err without paths and URLs, which hold names of artifacts.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var request *url.Error
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	case errors.As(err, &request):
		return request.Err
	}
	return err
}
