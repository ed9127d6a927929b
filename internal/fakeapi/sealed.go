package fakeapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// Seal returns a string that says v, signed with key: every server with the same key opens it, and no other.
func Seal(key string, v any) string {
	text := Encode(v)
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
