package offload

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestOthersArtifactsAreRead has two shelves in one folder, each with metadata of its own.
func TestOthersArtifactsAreRead(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	f := func(others bool) *Shelf {
		o := options(folder, c)
		o.Others = others
		return opened(t, o)
	}
	mine, others, stranger := f(true), f(true), f(false)
	content := []byte("what was taken out")
	name := mine.Name("", content)
	if err := mine.Put(name, content); err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Get(name); !errors.Is(err, ErrUnknown) {
		t.Errorf("who shares nothing finds it: %v", err)
	}
	if got, err := others.Get(name); err != nil || string(got) != string(content) {
		t.Fatalf("%q, %v", got, err)
	}
	if !others.Touch(name) {
		t.Error("it cannot be touched")
	}
	// Whoever edits a file leaves his own time on it.
	other := []byte("another one")
	edited := mine.Name("", other)
	if err := mine.Put(edited, other); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "artifacts", edited+".txt")
	if err := os.WriteFile(path, []byte("forged text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, c.now(), c.now()); err != nil {
		t.Fatal(err)
	}
	if _, err := others.Get(edited); !errors.Is(err, ErrUnknown) {
		t.Errorf("a forged content is given out: %v", err)
	}
}
