package offload

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"path/filepath"
	"strings"
)

const (
	nameLength = 26 // letters of five bits: 130 bits
	alphabet   = "abcdefghijklmnopqrstuvwxyz234567"
	secretSize = 32     // bytes
	extension  = ".txt" // of texts, so that agents' tools read the files
)

var inLetters = base32.NewEncoding(alphabet)

// Name returns the name of content in a scope. The scope may also be the kind of a text that is no artifact.
func (s *Shelf) Name(scope string, content []byte) string {
	const domain = "epitome artifact name 1\x00" // keeps names apart from other uses of the secret
	mac := hmac.New(sha256.New, s.options.Secret)
	head := binary.BigEndian.AppendUint64(append(make([]byte, 0, 128), domain...), uint64(len(scope)))
	mac.Write(append(head, scope...))
	mac.Write(content)
	return inLetters.EncodeToString(mac.Sum(nil))[:nameLength]
}

// IsName reports whether name is one of Name's, maybe with an extension such as .png. None leads out of a folder.
func IsName(name string) bool {
	letters, kind, _ := strings.Cut(name, ".")
	return len(letters) == nameLength && len(kind) <= 4 && strings.Trim(letters+kind, alphabet) == ""
}

// fileOf returns how the file of an artifact is called.
func fileOf(name string) string {
	kind := filepath.Ext(name)
	return strings.TrimSuffix(name, kind) + cmp.Or(kind, extension)
}

// shown returns the part of a name that errors and logs may tell.
func shown(name string) string { return name[:min(len(name), 6)] + "…" }

func newSecret() []byte {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// Address returns the place of an artifact as texts name it: its absolute path, its URL, or "PATH or URL". It is empty
// if texts name neither. Without a folder, the URL takes the place of the path.
func (s *Shelf) Address(name string) string {
	how := s.options.Address
	if how == "none" || !IsName(name) {
		return ""
	}
	path, url := filepath.Join(s.folder, fileOf(name)), s.options.URL+name
	switch {
	case how == "path" && s.folder != "":
		return path
	case how == "both" && s.folder != "":
		return path + " or " + url
	}
	return url
}
