package seal

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// KeyEnv is the environment variable that may hold the key.
const KeyEnv = "EPITOME_SEAL_KEY"

// Key is the user's.
type Key [32]byte

// FreshKey is a random key, as text.
func FreshKey() string {
	var key Key
	_, _ = rand.Read(key[:]) // never fails
	return hex.EncodeToString(key[:])
}

// errKey never repeats what was given: it may be a key in another spelling.
var errKey = errors.New("it is no key; write 64 hexadecimal digits, as 'openssl rand -hex 32' makes them")

// parseKey reads the text of a key.
func parseKey(text string) (*Key, error) {
	var key Key
	text = strings.TrimSpace(text)
	if len(text) != hex.EncodedLen(len(key)) {
		return nil, errKey
	}
	if _, err := hex.Decode(key[:], []byte(text)); err != nil {
		return nil, errKey
	}
	return &key, nil
}

// FindKey returns the key that the environment or a file gives; nil if neither is asked for. The file must be readable
// by its owner alone, and lie outside the data folder.
func FindKey(lookup func(string) (string, bool), file, folder string) (*Key, error) {
	text, set := lookup(KeyEnv)
	switch {
	case set && text != "" && file != "":
		return nil, fmt.Errorf("%s is set as well; give the key in one of the two places", KeyEnv)
	case set && text != "":
		key, err := parseKey(text)
		if err != nil {
			return nil, fmt.Errorf("cannot use %s: %w", KeyEnv, err)
		}
		return key, nil
	case file != "":
		return readKey(file, folder)
	}
	return nil, nil
}

// readKey reads the file of a key.
func readKey(file, folder string) (*Key, error) {
	if !filepath.IsAbs(file) {
		return nil, fmt.Errorf("the path %s is relative; write an absolute one", file)
	}
	if within(file, folder) {
		return nil, fmt.Errorf("the file %s lies in the data folder, beside what it opens; move it out", file)
	}
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	var text []byte
	if err == nil {
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			return nil, fmt.Errorf("others than its owner may use the file %s; run chmod 600 on it", file)
		}
		text, err = os.ReadFile(file)
	}
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err // the path is named below
	}
	var key *Key
	if err == nil {
		key, err = parseKey(string(text))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read a key from %s: %w", file, err)
	}
	return key, nil
}

// within reports whether the file lies in the folder, links followed.
func within(file, folder string) bool {
	for _, at := range []string{filepath.Clean(file), resolved(file)} {
		for _, in := range []string{filepath.Clean(folder), resolved(folder)} {
			if rel, err := filepath.Rel(in, at); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// resolved is where a path leads; the path itself as far as it does not exist.
func resolved(path string) string {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	return filepath.Clean(path)
}
