package offload

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
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
	f := &folder{path: filepath.Join(data, "artifacts"), secretFile: filepath.Join(data, "secret")}
	if err == nil {
		err = os.MkdirAll(f.path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the artifacts: %w", err)
	}
	return (&Shelf{place: f, folder: f}).open(o)
}

func (f *folder) file(name string) string { return filepath.Join(f.path, name) }

func (f *folder) secret() ([]byte, error) {
	read := func() ([]byte, error) { return os.ReadFile(f.secretFile) }
	create := func(secret []byte) error { return WriteFile(f.secretFile, secret, link) }
	secret, err := secretOf(f.secretFile, read, create)
	if err != nil {
		return nil, err
	}
	return secret, os.Chmod(f.secretFile, 0o600) // one that was copied here may be open to others
}

func (f *folder) put(name string, content []byte) error {
	return WriteFile(f.file(name), content, os.Rename)
}

// link gives a file another name, unless a file has that already. Where a file system has no links, it renames the
// file.
func link(file, name string) error {
	err := os.Link(file, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(file, name)
	}
	return err
}

// WriteFile writes a file that settle then brings to its place, mostly os.Rename, so that nobody sees a part of it. Only
// the user may read it. If the process is killed meanwhile, a file is left whose name begins with a dot.
func WriteFile(path string, content []byte, settle func(temp, path string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { // somebody may have deleted it
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), tempPattern)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // if it is still there; where this process ends before, a sweep does
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return settle(temp.Name(), path)
}

func (f *folder) renew(name string, age time.Duration) error {
	f.sweeping.RLock()
	defer f.sweeping.RUnlock()
	info, err := os.Stat(f.file(name))
	now := time.Now()
	if err == nil && now.Sub(info.ModTime()).Abs() > age {
		err = os.Chtimes(f.file(name), now, now)
	}
	return err
}

func (f *folder) get(name string) ([]byte, error) { return os.ReadFile(f.file(name)) }

func (f *folder) remove(name string) error {
	return f.removeExpired(name, time.Now().AddDate(1, 0, 0), &Swept{}) // whenever it was renewed
}

func (f *folder) sweep(ctx context.Context, before time.Time) (swept Swept, err error) {
	entries, err := os.ReadDir(f.path)
	for _, e := range entries {
		if ctx.Err() != nil {
			return swept, ctx.Err()
		}
		expired := before
		if isTemp, _ := filepath.Match(tempPattern, e.Name()); isTemp {
			expired = time.Now().Add(-time.Hour) // left behind by a write that a crash ended
		} else if name := strings.TrimSuffix(e.Name(), extension); fileOf(name) != e.Name() || !IsName(name) {
			continue
		}
		err = errors.Join(err, f.removeExpired(e.Name(), expired, &swept))
	}
	return swept, err
}

// removeExpired deletes a file that was last modified before a time, and counts it. It may be gone, as another process
// has swept it or its write has ended.
func (f *folder) removeExpired(name string, before time.Time, swept *Swept) error {
	f.sweeping.Lock()
	defer f.sweeping.Unlock()
	info, err := os.Lstat(f.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.ModTime().Before(before) {
		swept.Left += info.Size()
		return nil
	}
	swept.Files++
	swept.Bytes += info.Size()
	return os.Remove(f.file(name))
}

// cause returns err without paths and URLs, which hold names of artifacts.
func cause(err error) error {
	switch err.(type) {
	case *fs.PathError, *os.LinkError, *url.Error:
		return errors.Unwrap(err)
	}
	return err
}

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

func newSecret() []byte {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// secretOf returns the secret that read reads in a place, once create has put one there if there is none. Of several
// processes that do so at once, one wins.
func secretOf(place string, read func() ([]byte, error), create func(secret []byte) error) ([]byte, error) {
	secret, err := read()
	if errors.Is(err, fs.ErrNotExist) {
		err = create(newSecret())
		if err == nil || errors.Is(err, fs.ErrExist) {
			secret, err = read()
		}
	}
	if err == nil && len(secret) != secretSize {
		err = fmt.Errorf("%s does not have %d bytes: delete it, and a new secret is made", place, secretSize)
	}
	return secret, err
}

// Address returns the place of an artifact as texts name it: its absolute path, its URL, or "PATH or URL". It is empty
// if texts name neither. Without a folder, the URL takes the place of the path.
func (s *Shelf) Address(name string) string {
	how, url := s.options.Address, s.options.URL+name
	if how == "none" || !IsName(name) {
		return ""
	}
	if s.folder == nil || how != "path" && how != "both" {
		return url
	}
	path := s.folder.file(fileOf(name))
	if s.options.Shown != "" {
		path = s.options.Shown + fileOf(name)
	}
	if how == "both" {
		return path + " or " + url
	}
	return path
}

// SealMark begins every sealed text. Its first byte is rare in JSON, so that it is soon looked for in a large body.
const SealMark = "~epitome1."

const mostSealed = 4 << 20 // bytes of a text that is sealed

// The options are valid, so that no error comes; one goroutine each, as texts are short.
var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostSealed))
)

// Seal returns a text compressed and encrypted, for a client to keep in place of epitome. name is a name of Shelf.Name
// that is kept secret: whoever has it can open the text. A text that is too long for Open is an error.
func Seal(name string, text []byte) (string, error) {
	if len(text) > mostSealed {
		return "", fmt.Errorf("a text of %d bytes is too long to be sealed: %d are the most", len(text), mostSealed)
	}
	sealed := sealer(name).Seal(nil, nil, packer.EncodeAll(text, nil), []byte(SealMark))
	return SealMark + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open returns the text that Seal has sealed under the same name. It is an error if the sealed text was changed.
func Open(name, sealed string) (text []byte, err error) {
	content, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(sealed, SealMark))
	if err == nil {
		content, err = sealer(name).Open(nil, nil, content, []byte(SealMark))
	}
	if err != nil {
		return nil, err
	}
	return unpacker.DecodeAll(content, nil)
}

// sealer returns a cipher that puts a random nonce before each text.
func sealer(name string) cipher.AEAD {
	key := sha256.Sum256([]byte("epitome seal 1\x00" + name))
	block, _ := aes.NewCipher(key[:]) // no error: the key has 32 bytes
	sealer, _ := cipher.NewGCMWithRandomNonce(block)
	return sealer
}
