package offload

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"github.com/klauspost/compress/zstd"
)

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
