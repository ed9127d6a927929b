package offload

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"hash"
	"path/filepath"
	"strings"
	"sync"
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
func (s *Shelf) Name(scope string, content []byte) string { return s.names.name(scope, content) }

// NameOf returns a name for what is no content, such as a credential of which scopes are made.
func (s *Shelf) NameOf(kind, text string) string { return s.names.name(kind, []byte(text)) }

// namer makes names with one key. A request asks for several.
type namer struct {
	macs     sync.Pool // of *naming
	spelling *base32.Encoding
}

// naming is what one name is made with.
type naming struct {
	mac  hash.Hash
	head []byte
	sum  []byte
}

func newNamer(key []byte) *namer {
	return &namer{spelling: base32.NewEncoding(alphabet), macs: sync.Pool{New: func() any {
		return &naming{mac: hmac.New(sha256.New, key)}
	}}}
}

func (n *namer) name(scope string, content []byte) string {
	with := n.macs.Get().(*naming) //nolint:forcetypeassert // nothing else is in it
	defer n.macs.Put(with)
	with.mac.Reset()
	with.head = binary.BigEndian.AppendUint64(append(with.head[:0], domain...), uint64(len(scope)))
	with.head = append(with.head, scope...)
	with.mac.Write(with.head)
	with.mac.Write(content)
	with.sum = with.mac.Sum(with.sum[:0])
	var name [2 * sha256.Size]byte
	n.spelling.Encode(name[:], with.sum)
	return string(name[:nameLength])
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
