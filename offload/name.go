package offload

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
)

const (
	nameLength = 26 // characters of five bits: 130 bits
	alphabet   = "abcdefghijklmnopqrstuvwxyz234567"

	// domain keeps names apart from whatever else the secret may be used for.
	domain = "epitome artifact name 1\x00"

	extension = ".txt" // so that agents' tools read the file as text

	// shownLength is how many characters of a name errors and logs tell.
	shownLength = 6
)

// Name returns the name of content in scope: a keyed hash of both. It depends on nothing else, so equal contents of a
// scope lie on the shelf once, and nobody without the secret can tell from a name whether a scope has seen a content.
func (s *Shelf) Name(scope string, content []byte) string { return nameBy(s.nameKey, scope, content) }

// NameOf returns a name for what is no content, such as a credential of which scopes are made. It stays the same when a
// data folder is sealed.
func (s *Shelf) NameOf(kind, text string) string { return nameBy(s.secret, kind, []byte(text)) }

func nameBy(key []byte, scope string, content []byte) string {
	mac := hmac.New(sha256.New, key)
	head := binary.BigEndian.AppendUint64([]byte(domain), uint64(len(scope)))
	mac.Write(append(head, scope...))
	mac.Write(content)
	return base32.NewEncoding(alphabet).EncodeToString(mac.Sum(nil))[:nameLength]
}

// IsName reports whether Name could have made name. No such name leads out of a folder.
func IsName(name string) bool {
	return len(name) == nameLength && strings.Trim(name, alphabet) == ""
}

// shown returns the part of name that errors and logs may tell.
func shown(name string) string { return name[:min(len(name), shownLength)] + "…" }

// address says how stubs name artifacts.
type address struct {
	folder string // absolute; empty where stubs do not name the file
	url    string // with a slash at its end; empty where stubs do not name it
}

func newAddress(kind, folder, url string) (a address, err error) {
	if url != "" {
		url = strings.TrimRight(url, "/") + "/"
	}
	switch kind {
	case "path":
		if folder == "" {
			return address{url: url}, nil
		}
		return address{folder: folder}, nil
	case "url", "both":
		if url == "" {
			return a, fmt.Errorf("address = %q needs a URL", kind)
		}
		if kind == "both" {
			a.folder = folder
		}
		a.url = url
		return a, nil
	case "none":
		return a, nil
	}
	return a, fmt.Errorf("address = %q: want path, url, both or none", kind)
}

// Address returns what a stub says of where the artifact is: its absolute path, its URL, or "PATH or URL". It is empty
// if stubs name neither.
func (s *Shelf) Address(name string) string {
	if !IsName(name) {
		return ""
	}
	var at []string
	if s.address.folder != "" {
		at = append(at, filepath.Join(s.address.folder, name+extension))
	}
	if s.address.url != "" {
		at = append(at, s.address.url+name)
	}
	return strings.Join(at, " or ")
}
