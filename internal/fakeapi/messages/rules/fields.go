package rules

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"epitome/internal/fakeapi"
)

// ReadObject reads raw, or refuses it as what stands at path.
func ReadObject(raw json.RawMessage, path string) (fakeapi.Object, *Refusal) {
	o, ok := fakeapi.CutObject(raw)
	if !ok {
		return nil, Flaw("%s: Input should be an object", path)
	}
	return o, nil
}

// checkFields holds o to a list of names, those with an exclamation mark being required. "*" allows any.
func checkFields(o fakeapi.Object, path, names string) *Refusal {
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
	list, ok := fakeapi.CutList(raw)
	if !ok {
		return nil, Flaw("%s: Input should be a valid list", path)
	}
	return list, nil
}

// canonOf is the value of an object without its marker and without fields that are null. Some values are given, each in
// its normal form.
func canonOf(o fakeapi.Object, given map[string][]byte) []byte {
	bare := fakeapi.Object{}
	for name, raw := range o {
		if name != "cache_control" && o.Has(name) {
			bare[name] = raw
		}
	}
	return bare.NormalWith(given)
}

// Canon is the value of an object without its marker and without fields that are null.
func Canon(o fakeapi.Object) []byte { return canonOf(o, nil) }
