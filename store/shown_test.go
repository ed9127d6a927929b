package store

import (
	"strings"
	"testing"
)

// An error names its cause behind the key: a key of 64 bytes that nobody can read would take its place.
func TestAKeyIsShownSoThatItCanBeRead(t *testing.T) {
	f := func(key, want string) {
		t.Helper()
		if got := Shown(key); got != want {
			t.Errorf("%q is shown as %q, want %q", key, got, want)
		}
	}
	f("sweep", "sweep")
	f("contexts/docs ö", "contexts/docs ö")
	f(strings.Repeat("k", 2000), strings.Repeat("k", MaxKey))
	f("nn4\v\x9c\xff\xb3z\x98\x9c", "6e6e340b9cffb37a…")
	f("\x00", "00…")
	f("", "")
}
