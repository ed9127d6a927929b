package offload

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	secretSize = 32 // bytes

	// secretWait is how long another process may take to finish writing the secret, where there are no links.
	secretWait = time.Second
)

func freshSecret() []byte {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// Secret returns what lies beside the folder of artifacts. Of several processes that find none, one makes it, and all
// have the same afterwards.
func (d *filePlace) Secret() ([]byte, error) {
	path := filepath.Join(filepath.Dir(d.folder), "secret")
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeSecret(path, freshSecret(), d.temp(), os.Link); err != nil {
			return nil, err
		}
	}
	secret, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && file.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(path, 0o600)
		d.log.Warn("the secret of artifacts' names could be read by others", "file", path)
	}
	return secret, err
}

// makeSecret links a complete file to path, so that nobody ever reads half of it. Where there are no links, it makes
// the file in its place, and readSecret waits for the end of it. That another process was faster is no error.
func makeSecret(path string, secret []byte, temp string, link func(from, to string) error) error {
	if err := saveNew(temp, secret); err != nil {
		return err
	}
	err := link(temp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = saveNew(path, secret)
	}
	_ = os.Remove(temp) // else Sweep does
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	return err
}

func readSecret(path string) ([]byte, error) {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		secret, err := os.ReadFile(path)
		if err != nil || len(secret) == secretSize {
			return secret, err
		}
		if len(secret) > secretSize || time.Since(began) > secretWait {
			return nil, fmt.Errorf("%s has %d bytes, want %d: delete it, and a new secret is made",
				path, len(secret), secretSize)
		}
	}
}
