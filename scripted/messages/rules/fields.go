package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Object is a JSON object whose values are not read yet.
type Object map[string]json.RawMessage

// ReadObject reads raw, or refuses it as what stands at path.
func ReadObject(raw json.RawMessage, path string) (Object, *Refusal) {
	o, ok := cutObject(raw)
	if !ok {
		return nil, Flaw("%s: Input should be an object", path)
	}
	return o, nil
}

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

// check holds o to a list of names, those with an exclamation mark being required. "*" allows any.
func (o Object) check(path, names string) *Refusal {
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		plain, required := strings.CutSuffix(name, "!")
		allowed[plain] = true
		if _, ok := o[plain]; required && !ok {
			return Flaw("%s: Field required", join(path, plain))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !allowed[name] && !allowed["*"] {
			return Flaw("%s: Extra inputs are not permitted", join(path, name))
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// ReadList reads a list, each element as it stands.
func ReadList(raw json.RawMessage, path string) ([]json.RawMessage, *Refusal) {
	parts, ok := cut(raw, '[')
	if !ok {
		return nil, Flaw("%s: Input should be a valid list", path)
	}
	list := make([]json.RawMessage, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list, nil
}

// IsText tells whether raw is a JSON string, and returns it.
func IsText(raw json.RawMessage) (string, bool) {
	if !bytes.HasPrefix(raw, []byte(`"`)) {
		return "", false
	}
	return unquote(raw), true
}

// isObject tells whether raw is a JSON object.
func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte("{")) }

// Normal is raw in the one form that all equal values have: keys sorted, no blanks.
func Normal(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	return appendCanon(nil, raw)
}

// Canon is the value of an object without its marker and without fields that are null.
func (o Object) Canon() []byte { return o.canonWith(nil) }

// canonWith is Canon with some values given, each in its normal form.
func (o Object) canonWith(given map[string][]byte) []byte {
	bare := Object{}
	for name, raw := range o {
		if name != "cache_control" && o.Has(name) {
			bare[name] = raw
		}
	}
	return bare.appendTo(nil, given)
}

// Digest names a text, after what came before it.
func Digest(before string, text []byte) string {
	sum := sha256.Sum256(append([]byte(before+"\n"), text...))
	return hex.EncodeToString(sum[:12])
}
