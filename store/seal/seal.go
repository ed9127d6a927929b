// Package seal makes what is kept in a data folder unreadable to who has the folder and not its key.
//
// It promises: records and files are encrypted and authenticated with AES-256-GCM, under keys that are derived of the
// user's key and of a salt that lies in the folder. What was sealed under one name does not open under another one, and
// a changed byte or a missing end is ErrDamaged. A name that lies on the disk is a keyed hash, so that nobody without
// the key can tell from it whether a text was seen. A folder that was sealed with one key opens with that key alone.
//
// It assumes that the key is random and is kept outside the folder: a data folder with its key beside it is not sealed.
//
// It does not hide how many records and files there are, of what kind and size they are, and when they came.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// ErrDamaged says that something is not as it was sealed, or not under its name.
var ErrDamaged = errors.New("it is not as it was sealed")

// Seal seals and opens what lies in one data folder. All methods may be called at the same time.
type Seal struct {
	records cipher.AEAD
	names   []byte // keys the names of records
	files   []byte // of this the key of each file is made
	texts   []byte // keys the names of contents
	reading bool
}

// newSeal is the seal of the folder that has the salt.
func newSeal(key Key, salt []byte, writes bool) (*Seal, error) {
	s := &Seal{
		names: derive(key, salt, "names of records"), files: derive(key, salt, "files"),
		texts: derive(key, salt, "names of contents"), reading: !writes,
	}
	block, err := aes.NewCipher(derive(key, salt, "records"))
	if err == nil {
		s.records, err = cipher.NewGCMWithRandomNonce(block)
	}
	return s, err
}

// derive is a key for one purpose in the folder that has the salt.
func derive(key Key, salt []byte, purpose string) []byte {
	made, err := hkdf.Key(sha256.New, key[:], salt, "epitome seal 1: "+purpose, len(key))
	if err != nil {
		panic("BUG: cannot derive a key: " + err.Error())
	}
	return made
}

// Writes reports whether what is written now is sealed. A nil Seal seals nothing; another one may be there only to open
// what was sealed before.
func (s *Seal) Writes() bool { return s != nil && !s.reading }

// NameKey is what names of contents are keyed with, for who keyed them with secret before.
func (s *Seal) NameKey(secret []byte) []byte { return keyed(s.texts, secret) }

func keyed(key []byte, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// RecordName is under what name a record lies that has the key: the key's first byte, which tells of what kind it is,
// and a keyed hash. key must not be empty.
func (s *Seal) RecordName(key string) []byte {
	return append([]byte{key[0]}, keyed(s.names, []byte(key))...)
}

// RecordOverhead is how many bytes sealing adds to a record at most, beside its key.
const RecordOverhead = 12 + 16 + 2

// Record is the sealed record that has the key and the name.
func (s *Seal) Record(name []byte, key string, record []byte) []byte {
	plain := make([]byte, 0, binary.MaxVarintLen64+len(key)+len(record))
	plain = binary.AppendUvarint(plain, uint64(len(key)))
	plain = append(append(plain, key...), record...)
	return s.records.Seal(nil, nil, plain, name)
}

// OpenRecord opens what Record has sealed under the name.
func (s *Seal) OpenRecord(name, sealed []byte) (key string, record []byte, err error) {
	plain, err := s.records.Open(nil, nil, sealed, name)
	if err != nil {
		return "", nil, ErrDamaged
	}
	size, n := binary.Uvarint(plain)
	if n <= 0 || size > uint64(len(plain)-n) {
		return "", nil, ErrDamaged
	}
	rest := plain[n:]
	return string(rest[:size]), rest[size:], nil
}
