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

func (f *folder) file(name string) string { return filepath.Join(f.path, name+extension) }

// secret reads the secret file. Of several processes that make it at once, one wins, and the others wait for its bytes.
func (f *folder) secret() ([]byte, error) {
	file, err := os.OpenFile(f.secretFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = file.Write(newSecret())
		err = errors.Join(err, file.Sync(), file.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	for range 100 {
		secret, err := os.ReadFile(f.secretFile)
		if err != nil || len(secret) == secretSize {
			return secret, errors.Join(err, os.Chmod(f.secretFile, 0o600))
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s does not have %d bytes: delete it, and a new secret is made", f.secretFile, secretSize)
}

func (f *folder) put(name string, content []byte) error {
	if err := os.MkdirAll(f.path, 0o700); err != nil { // somebody may have deleted it
		return err
	}
	temp, err := os.CreateTemp(f.path, tempPattern)
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), f.file(name))
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // else a sweep does
	}
	return err
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

func (f *folder) sweep(ctx context.Context, before time.Time) (swept Swept, err error) {
	entries, err := os.ReadDir(f.path)
	for _, e := range entries {
		if ctx.Err() != nil {
			return swept, ctx.Err()
		}
		expired := before
		if isTemp, _ := filepath.Match(tempPattern, e.Name()); isTemp {
			expired = time.Now().Add(-time.Hour) // left behind by a write that a crash ended
		} else if name, isText := strings.CutSuffix(e.Name(), extension); !isText || !IsName(name) {
			continue
		}
		size, gone, failed := f.removeExpired(filepath.Join(f.path, e.Name()), expired)
		if err = errors.Join(err, failed); gone {
			swept.Files, swept.Bytes = swept.Files+1, swept.Bytes+size
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
	if gone = info.ModTime().Before(before); gone {
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
