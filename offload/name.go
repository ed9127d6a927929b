package offload

import (
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
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

// SealMark begins every sealed text. Its first byte is rare in JSON, so that it is soon looked for in a large body.
const SealMark = "~epitome1."

// Why a sealed text cannot be opened.
var (
	ErrOtherSecret = errors.New("it was sealed with another secret, or is damaged")
	ErrOtherScope  = errors.New("it was sealed in another scope")
)

const mostSealed = 4 << 20 // bytes of a text that was sealed

// The options are valid, so that no error comes; one goroutine each, as texts are short.
var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostSealed))
)

// Seal returns a text compressed and encrypted, for a client to keep in place of epitome. Only the same scope can open
// it. name is a name of Shelf.Name that is kept secret: whoever has the secret of the shelf can open what it sealed.
func Seal(name, scope string, text []byte) string {
	plain := append(append([]byte(scope), 0), text...)
	nonce := make([]byte, 12)
	_, _ = rand.Read(nonce) // never fails
	sealed := sealer(name).Seal(nonce, nonce, packer.EncodeAll(plain, nil), []byte(SealMark))
	return SealMark + base64.RawURLEncoding.EncodeToString(sealed)
}

// Open returns the text that Seal has sealed. The error is ErrOtherSecret or ErrOtherScope.
func Open(name, scope, sealed string) (text []byte, err error) {
	content, err := base64.RawURLEncoding.DecodeString(sealed[min(len(sealed), len(SealMark)):])
	if err != nil || len(content) < 12 {
		return nil, ErrOtherSecret
	}
	packed, err := sealer(name).Open(nil, content[:12], content[12:], []byte(SealMark))
	if err != nil {
		return nil, ErrOtherSecret
	}
	plain, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		return nil, ErrOtherSecret
	}
	from, text, _ := bytes.Cut(plain, []byte{0})
	if string(from) != scope {
		return nil, ErrOtherScope
	}
	return text, nil
}

func sealer(name string) cipher.AEAD {
	key := sha256.Sum256([]byte("epitome seal 1\x00" + name))
	block, _ := aes.NewCipher(key[:]) // no error: the key has 32 bytes
	sealer, _ := cipher.NewGCM(block)
	return sealer
}
