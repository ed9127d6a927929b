package offload

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

const (
	nameLength = 26 // letters of five bits: 130 bits
	alphabet   = "abcdefghijklmnopqrstuvwxyz234567"
	secretSize = 32     // bytes
	extension  = ".txt" // so that agents' tools read the files as text
)

// Name returns the name of content in a scope. The scope may also be the kind of a text that is no artifact.
func (s *Shelf) Name(scope string, content []byte) string {
	const domain = "epitome artifact name 1\x00" // keeps names apart from other uses of the secret
	mac := hmac.New(sha256.New, s.options.Secret)
	head := binary.BigEndian.AppendUint64(append(make([]byte, 0, 128), domain...), uint64(len(scope)))
	mac.Write(append(head, scope...))
	mac.Write(content)
	return base32.NewEncoding(alphabet).EncodeToString(mac.Sum(nil))[:nameLength]
}

// IsName reports whether name is formed like one that Name makes. No such name leads out of a folder.
func IsName(name string) bool {
	return len(name) == nameLength && strings.Trim(name, alphabet) == ""
}

// shown returns the part of a name that errors and logs may tell.
func shown(name string) string { return name[:min(len(name), 6)] + "…" }

func newSecret() []byte {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// checkAddress refuses an Options.Address that the shelf cannot have, and clears what texts do not name.
func (s *Shelf) checkAddress() error {
	o := &s.options
	if o.URL = strings.TrimRight(o.URL, "/"); o.URL != "" {
		o.URL += "/"
	}
	switch o.Address {
	case "path":
		if s.folder != "" { // else the URL takes its place
			o.URL = ""
		}
	case "none":
		s.folder, o.URL = "", ""
	case "url":
		s.folder = ""
		fallthrough
	case "both":
		if o.URL == "" {
			return fmt.Errorf("address %q needs a URL", o.Address)
		}
	default:
		return errors.New("address must be path, url, both or none")
	}
	return nil
}

// Address returns the place of an artifact as texts name it: its absolute path, its URL, or "PATH or URL". It is empty
// if texts name neither.
func (s *Shelf) Address(name string) string {
	if !IsName(name) {
		return ""
	}
	var at []string
	if s.folder != "" {
		at = append(at, filepath.Join(s.folder, name+extension))
	}
	if s.options.URL != "" {
		at = append(at, s.options.URL+name)
	}
	return strings.Join(at, " or ")
}
