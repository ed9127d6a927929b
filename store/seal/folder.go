package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// FileName is the file in a data folder that says that it was sealed, and by which a key is known to be the right one.
const FileName = "seal"

const (
	mark     = "epitome-seal-1"
	saltSize = 32 // bytes
)

// Open returns the seal of a data folder. wanted says that what is written is to be sealed; then the folder is marked
// if it was not yet. key is nil if none was given. The seal is nil if the folder is not sealed, and is not to be.
func Open(folder string, key *Key, wanted bool) (*Seal, error) {
	salt, err := admit(folder, key, wanted)
	if err != nil {
		return nil, err
	}
	if salt == nil && !wanted {
		return nil, nil
	}
	if salt == nil {
		if err := writeMark(folder, *key); err != nil {
			return nil, fmt.Errorf("cannot mark %s as sealed: %w", folder, err)
		}
		if salt, err = admit(folder, key, wanted); err != nil { // what another process may have written first
			return nil, err
		}
	}
	return newSeal(*key, salt, wanted)
}

// Check refuses what Open would refuse, and writes nothing.
func Check(folder string, key *Key, wanted bool) error {
	_, err := admit(folder, key, wanted)
	return err
}

// admit returns the salt of the folder, nil if it was not sealed yet.
func admit(folder string, key *Key, wanted bool) (salt []byte, err error) {
	path := filepath.Join(folder, FileName)
	text, err := os.ReadFile(path)
	marked := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if key == nil {
		switch {
		case marked:
			return nil, fmt.Errorf("%s is sealed, and no key is given; set %s or offload.key_file to the key "+
				"that it was sealed with, or give another folder with --data", folder, KeyEnv)
		case wanted:
			return nil, fmt.Errorf("no key is given to seal the data folder with; set %s or offload.key_file, "+
				"as 'openssl rand -hex 32' makes a key", KeyEnv)
		}
		return nil, nil
	}
	if !marked {
		return nil, nil
	}
	salt, check, ok := readMark(string(text))
	if !ok {
		return nil, fmt.Errorf("its file %s is damaged, without which nothing opens that was sealed; bring it back from a copy, "+
			"or give another folder with --data", path)
	}
	if !hmac.Equal(check, checkOf(*key, salt)) {
		return nil, fmt.Errorf("the key is not the one that %s was sealed with; give that one, "+
			"or another folder with --data", folder)
	}
	return salt, nil
}

// checkOf is by what a key is known.
func checkOf(key Key, salt []byte) []byte { return derive(key, salt, "check") }

// readMark reads what writeMark wrote.
func readMark(text string) (salt, check []byte, ok bool) {
	fields := strings.Fields(text)
	if len(fields) != 3 || fields[0] != mark {
		return nil, nil, false
	}
	salt, err := hex.DecodeString(fields[1])
	check, err2 := hex.DecodeString(fields[2])
	return salt, check, err == nil && err2 == nil && len(salt) == saltSize
}

// writeMark marks the folder as sealed with the key. That another process was faster is no error.
func writeMark(folder string, key Key) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	temp, err := os.CreateTemp(folder, ".seal-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = fmt.Fprintln(temp, mark, hex.EncodeToString(salt), hex.EncodeToString(checkOf(key, salt)))
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	path := filepath.Join(folder, FileName)
	err = os.Link(temp.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	return os.Rename(temp.Name(), path) // where there are no links
}
