package tokenize

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// Tokens of every length and byte are what encoding/base64 makes of their rows.
func TestRowsAreReadAsBase64(t *testing.T) {
	var rows strings.Builder
	var tokens []string
	for i := range 252 {
		token := make([]byte, i+1)
		for k := range token {
			token[k] = byte(i + k*7)
		}
		tokens = append(tokens, string(token))
		fmt.Fprintf(&rows, "%s %d\n", base64.StdEncoding.EncodeToString(token), i)
	}
	for _, text := range []string{rows.String(), strings.TrimSuffix(rows.String(), "\n")} {
		r := newRanks(len(tokens), len(text))
		if err := r.addRows([]byte(text)); err != nil {
			t.Fatal(err)
		}
		for i, token := range tokens {
			if rank := r.of([]byte(token)); rank != int32(i) { //nolint:gosec // an index
				t.Errorf("token %q has rank %d, want %d", token, rank, i)
			}
		}
	}
}

// A row that is none is an error, wherever it ends.
func TestBrokenRowsAreRefused(t *testing.T) {
	const good = "IQ== 0\n"
	f := func(text string) {
		t.Helper()
		if err := newRanks(4, 100).addRows([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	f("\n")
	f(good + "\n")
	f(good + "Ig==")
	f(good + "Ig== ")
	f(good + "Ig== 2\n")
	f(good + "Ig== x\n")
	f(good + "I\n")
	f(good + " 1\n")
	f(good + "==== 1\n")
	f(good + "I?== 1\n")
	f(good + "Ig==Ig 1\n")
	f(strings.Repeat("QUFB", 100) + " 0\n")
	for end := 1; end < len(good)-1; end++ {
		f(good[:end])
	}
}
