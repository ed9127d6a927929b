package unit_test

import (
	"testing"
	"time"

	"epitome/internal/unit"
)

func TestDurationIsReadWithItsUnit(t *testing.T) {
	f := func(in string, want time.Duration) {
		t.Helper()
		var d unit.Duration
		if err := d.UnmarshalText([]byte(in)); err != nil || d.D() != want {
			t.Errorf("%q is read as %s, %v; want %s", in, d, err, want)
		}
	}
	f("0s", 0)
	f("500ms", 500*time.Millisecond)
	f("1.5s", 1500*time.Millisecond)
	f("2m", 2*time.Minute)
	f("1h30m", 90*time.Minute)
	f("720h", 720*time.Hour)
}

func TestSizeIsReadWithItsUnit(t *testing.T) {
	f := func(in string, want unit.Bytes) {
		t.Helper()
		var b unit.Bytes
		if err := b.UnmarshalText([]byte(in)); err != nil || b != want {
			t.Errorf("%q is read as %s, %v; want %s", in, b, err, want)
		}
	}
	f("0B", 0)
	f("512B", 512)
	f("32KB", 32<<10)
	f("64 MB", 64<<20)
	f("1GB", 1<<30)
	f("1GiB", 1<<30)
	f("64 KiB", 64<<10)
	f("4611686018427387904B", 1<<62)
}

func TestUnclearQuantitiesAreRefused(t *testing.T) {
	for _, in := range []string{"", "0", "5", "1.5", "-5s", "+5s", ".5s", "5 s", "5S", "s", "30d", "9999999999h"} {
		var d unit.Duration
		if err := d.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is read as %s", in, d)
		}
	}
	for _, in := range []string{"", "64", "1.5MB", "-1B", "KB", "64kb", "64K", "64iB", "64KIB", "64Ki", "64KBB", "0x10B",
		"9223372036854775808B", "8589934592GB", "99999999999999999999B"} {
		var b unit.Bytes
		if err := b.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is read as %s", in, b)
		}
	}
}

func TestTokensAreReadAsPeopleWriteThem(t *testing.T) {
	f := func(in string, want unit.Tokens) {
		t.Helper()
		var n unit.Tokens
		if err := n.UnmarshalText([]byte(in)); err != nil || n != want {
			t.Errorf("%q is read as %d, %v; want %d", in, n, err, want)
		}
	}
	f("0", 0)
	f("32000", 32_000)
	f("32_000", 32_000)
	f("32k", 32_000)
	f("128K", 128_000)
	f("1M", 1_000_000)
	for _, bad := range []string{"", "k", "-1", "1.5k", "32 k", "32kk", "0x10", "3000M", "99999999999999999999"} {
		n := unit.Tokens(7)
		if err := n.UnmarshalText([]byte(bad)); err == nil || n != 7 {
			t.Errorf("%q is read as %d, %v", bad, n, err)
		}
	}
}
