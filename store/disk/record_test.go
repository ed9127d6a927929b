package disk

import (
	"bytes"
	"testing"

	"epitome/store/records"
)

// FuzzParseRecord holds that damage never panics and never shows a value that was not written.
func FuzzParseRecord(f *testing.F) {
	f.Add("key", []byte("value"), []byte{}, 3)
	f.Add("", []byte{}, []byte{format, 0, 0, 0, 0}, 0)
	f.Fuzz(func(t *testing.T, key string, value, raw []byte, at int) {
		if r, err := parseRecord(key, raw); err == nil && !bytes.Equal(appendRecord(nil, key, r), raw) {
			t.Fatalf("%x was read as something else", raw)
		}
		written := records.Record{Version: uint64(len(raw)) + 1, Expires: int64(at), Value: value}
		stored := appendRecord(nil, key, written)
		r, err := parseRecord(key, stored)
		if err != nil || r.Version != written.Version || r.Expires != written.Expires || !bytes.Equal(r.Value, value) {
			t.Fatalf("%+v, %v; want %+v", r, err, written)
		}
		if _, err := parseRecord(key+"x", stored); err == nil {
			t.Fatal("read under another key")
		}
		at = int(uint(at) % uint(len(stored)))
		if _, err := parseRecord(key, stored[:at]); err == nil {
			t.Fatalf("read although only %d of %d bytes are left", at, len(stored))
		}
		stored[at] ^= byte(len(raw)%255) + 1
		if _, err := parseRecord(key, stored); err == nil {
			t.Fatalf("read although byte %d is another", at)
		}
	})
}
