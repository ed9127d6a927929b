// Package value reads JSON as scripted servers do: a body is checked once, and its parts are only cut out.
//
// It promises that equal values have one normal form, whatever their blanks, the order of their keys and the way in
// which a string or a number is written. It shares no code with what such servers judge.
package fakeapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Object is a JSON object whose values are not read yet.
type Object map[string]json.RawMessage

// Text returns a string value, "" where there is none.
func (o Object) Text(name string) string {
	text, _ := IsText(o[name])
	return text
}

// Has tells whether there is a value other than null.
func (o Object) Has(name string) bool {
	raw, ok := o[name]
	return ok && string(raw) != "null"
}

// NormalWith is the normal form of the object, where some values are given, each in its normal form.
func (o Object) NormalWith(given map[string][]byte) []byte { return o.appendTo(nil, given) }

// IsText tells whether raw is a JSON string, and returns it.
func IsText(raw json.RawMessage) (string, bool) {
	if !bytes.HasPrefix(raw, []byte(`"`)) {
		return "", false
	}
	return textOf(raw), true
}

// IsObject tells whether raw is a JSON object.
func IsObject(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte("{")) }

// Normal is raw in the one form that all equal values have: keys sorted, no blanks.
func Normal(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	return appendCanon(nil, raw)
}

// Digest names a text, after what came before it.
func Digest(before string, text []byte) string {
	sum := sha256.Sum256(append([]byte(before+"\n"), text...))
	return hex.EncodeToString(sum[:12])
}

// Encode is JSON without HTML's escapes. It is given nothing that cannot be encoded.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("cannot encode %T: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
