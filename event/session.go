package event

import (
	"crypto/sha256"
	"encoding/hex"
)

// SessionOf returns what events call the session that a client calls id: a hash, as no event carries what a header
// says. It is empty if id is.
func SessionOf[T string | []byte](id T) string {
	if len(id) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
