// Package sealed makes strings that only a scripted server can have issued, and reads them again.
//
// It promises that what one server has sealed every other one with the same key opens, on every machine, and that a
// string which was changed in one byte opens nowhere. It keeps nothing.
package sealed

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"epitome/scripted/value"
)

// Seal returns a string that says v, signed with key.
func Seal(key string, v any) string {
	text := value.Encode(v)
	return base64.StdEncoding.EncodeToString(append(code(key, text), text...))
}

// Open reads into v what was sealed with key, and reports whether it was.
func Open(key, sealed string, v any) bool {
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(raw) < sha256.Size || !hmac.Equal(raw[:sha256.Size], code(key, raw[sha256.Size:])) {
		return false
	}
	return json.Unmarshal(raw[sha256.Size:], v) == nil
}

// code is what only whoever has the key can make of text.
func code(key string, text []byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write(text)
	return mac.Sum(nil)
}
