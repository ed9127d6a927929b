package looks

import (
	"strings"
	"testing"
)

func TestALevelIsOneOfALogsMessage(t *testing.T) {
	for line, want := range map[string]bool{
		"2026-11-20T10:02:00Z ERROR stale rate":       true,
		"INFO:root: took an order":                    true,
		"[error] 12#12: gone":                         true,
		"ts=1 level=warn msg=slow":                    true,
		"Nov 20 10:02 host WARNING: slow":             true,
		"An error: the shop failed":                   false,
		"errors are told in the book of errors":       false,
		"return errors.New(\"ERROR\")":                false,
		"a line that says nothing of INFO until here": false,
		"ERROR": false,
		"":      false,
	} {
		if got := HasLevel(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestBytesInBase64AreTold(t *testing.T) {
	const blob = "MIIDazCCAlOgAwIBAgIUQ2x1ZWxlc3MgY2VydGlmaWNhdGUgbGluZSBvZiA2NCBi"
	for line, want := range map[string]bool{
		blob:                          true,
		blob + "/+==":                 true,
		blob[:40]:                     false,
		strings.Repeat("=", 64):       false,
		strings.Repeat("a", 64):       false,
		blob + " is one":              false,
		strings.Repeat("0f3A", 2_000): false,
		strings.Repeat("4f1c0c1d", 8): false, // a sum
	} {
		if got := IsBlob(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestOfVeryMuchTheBeginningIsRead(t *testing.T) {
	long := strings.Repeat("shop/rates.go ", 400_000)
	for text, want := range map[string]int{"": 0, "rates.go": 8, long[:1<<20]: 1 << 20, long: 4<<20 - 4<<20%14,
		strings.Repeat("x", 5<<20): 0} {
		if got := Beginning(text); len(got) != want || got != text[:want] {
			t.Errorf("of %d bytes %d are read, want %d", len(text), len(got), want)
		}
	}
}
