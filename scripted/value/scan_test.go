package value_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"epitome/scripted/value"
)

// agree holds what is cut out of a value to what encoding/json makes of it.
func agree(t *testing.T, raw []byte) {
	t.Helper()
	if !json.Valid(raw) {
		return
	}
	var want map[string]json.RawMessage
	isObject := json.Unmarshal(raw, &want) == nil && want != nil
	got, ok := value.CutObject(raw)
	if ok != isObject {
		t.Fatalf("%q is an object: %t, and read as one: %t", raw, isObject, ok)
	}
	if isObject {
		same(t, raw, len(got), len(want))
		for name, part := range want {
			same(t, raw, string(bytes.TrimSpace(part)), string(got[name]))
		}
	}
	var parts []json.RawMessage
	isList := json.Unmarshal(raw, &parts) == nil && parts != nil
	list, ok := value.CutList(raw)
	if ok != isList {
		t.Fatalf("%q is a list: %t, and read as one: %t", raw, isList, ok)
	}
	if isList {
		same(t, raw, len(list), len(parts))
		for i := range parts {
			same(t, raw, string(bytes.TrimSpace(parts[i])), string(list[i]))
		}
	}
	normal := value.Normal(bytes.TrimSpace(raw))
	var before, after any
	if err := json.Unmarshal(raw, &before); err != nil {
		return // a number that no float holds
	}
	if err := json.Unmarshal(normal, &after); err != nil || !reflect.DeepEqual(before, after) {
		t.Fatalf("%q becomes %q: %v", raw, normal, err)
	}
	exact := json.NewDecoder(bytes.NewReader(raw))
	exact.UseNumber()
	var v any
	if err := exact.Decode(&v); err != nil {
		t.Fatal(err)
	}
	again, err := json.MarshalIndent(v, " ", "\t")
	if err != nil {
		t.Fatal(err)
	}
	same(t, raw, string(value.Normal(again)), string(value.Normal(normal)))
}

func same(t *testing.T, raw []byte, got, want any) {
	t.Helper()
	if got != want {
		t.Fatalf("%q: got %v, want %v", raw, got, want)
	}
}

func FuzzPartsAreThoseOfTheStandardReader(f *testing.F) {
	for _, raw := range []string{
		`{}`, `[]`, `null`, `true`, `12`, `"a"`, ` [ ] `, ` { } `, `[1,2]`, `{"a":1,"a":2}`, `[[],{},[[1]],{"a":[{}]}]`,
		`{"a" : "x\"y" , "b\\":"\\", "c":"\\\"", "\u00e9":"é"}`, `["}","{",",",":","\\"]`, "[\n1 ,\t-2.50 ,\r1e2, 1E400 ]",
		`{"a":"\ud83d\ude00","b":"\ud800","c":"\u0000\b\f"}`, "{\"a\":\"\xff\"}", `[0.1,1.0,123456789012345678901234567890,-0,1e-7]`,
		`{"model":"m","input":[{"role":"user","content":"Look."},{"type":"function_call","arguments":"{\"a\":1}"}]}`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(agree)
}
