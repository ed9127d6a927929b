package clients

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// keyPrefix begins the keys that are made here. Some clients insist on "sk-"; the rest lets scanners for secrets know
// one when they see it.
const keyPrefix = "sk-epitome-"

// hashPrefix says by what a hash was made.
const hashPrefix = "sha256:"

// NewKey makes a key that nobody can guess.
func NewKey() string { return keyPrefix + rand.Text() }

// HashOf is what the configuration has of a key. Keys have more than a hundred random bits, so nobody can try them out.
func HashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// readHash reads what HashOf returned. The error does not repeat the text: it may be the key, put into the wrong place.
func readHash(text string) (hash [sha256.Size]byte, err error) {
	digits, found := strings.CutPrefix(text, hashPrefix)
	sum, err := hex.DecodeString(digits)
	if !found || err != nil || len(sum) != sha256.Size {
		return hash, errors.New(`it is no hash; write "sha256:" and 64 hexadecimal digits, as 'epitome key' prints them, and not the key`)
	}
	return [sha256.Size]byte(sum), nil
}
