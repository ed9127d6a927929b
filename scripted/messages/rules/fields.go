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
	var o Object
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return nil, Flaw("%s: Input should be an object", path)
	}
	return o, nil
}

// Text returns a string value, "" where there is none.
func (o Object) Text(name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
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
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, Flaw("%s: Input should be a valid list", path)
	}
	return list, nil
}

// IsText tells whether raw is a JSON string, and returns it.
func IsText(raw json.RawMessage) (string, bool) {
	var s string
	if !bytes.HasPrefix(raw, []byte(`"`)) || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// isObject tells whether raw is a JSON object.
func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte("{")) }

// Value is raw in the one form that all equal values have: keys sorted, no blanks.
func Value(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	return v
}

// Canon is the value of an object without its marker and without fields that are null.
func (o Object) Canon() []byte {
	values := map[string]any{}
	for name := range o {
		if name != "cache_control" && o.Has(name) {
			values[name] = Value(o[name])
		}
	}
	return Encode(values)
}

// Digest names a text, after what came before it.
func Digest(before string, text []byte) string {
	sum := sha256.Sum256(append([]byte(before+"\n"), text...))
	return hex.EncodeToString(sum[:12])
}
