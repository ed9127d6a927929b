package rewritetest

import (
	"os"
	"path/filepath"
	"testing"

	"epitome/internal/need"
)

// Stream is what a dialect tells of the events of an answer.
type Stream interface {
	Begins(kind, event []byte) bool
	Fails(kind, event []byte) bool
}

// CheckEvent holds what a dialect makes of an event to what is wanted: "frame", "begins" or "fails".
func CheckEvent(tb testing.TB, s Stream, event [2]string, want string) {
	tb.Helper()
	got, kind, data := "frame", []byte(event[0]), []byte(event[1])
	switch {
	case s.Fails(kind, data):
		got = "fails"
	case s.Begins(kind, data):
		got = "begins"
	}
	if got != want {
		tb.Errorf("%s %s: got %s, want %s", kind, data, got, want)
	}
}

// ClientBodies gives f the requests that real clients have sent, as far as they are of the dialect.
func ClientBodies(tb testing.TB, isOf func(name string, body []byte) bool, f func(name string, body []byte)) {
	tb.Helper()
	folder := os.Getenv("EPITOME_CLIENTS")
	if folder == "" {
		need.Skip(tb, "no bodies of clients here: set EPITOME_CLIENTS to a folder of them")
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	seen := 0
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if name := filepath.Base(file); isOf(name, body) {
			seen++
			f(name, body)
		}
	}
	if seen == 0 {
		tb.Fatalf("%s has no request of the dialect", folder)
	}
}
