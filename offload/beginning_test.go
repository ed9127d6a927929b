package offload

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What begins so is found in the folder and on the shelf, and nothing else that lies there.
func TestNamesAreFoundByHowTheyBegin(t *testing.T) {
	folder := t.TempDir()
	s := opened(t, options(folder, newClock()))
	var names []string
	for _, text := range []string{"one", "two", "three"} {
		name := s.Name("scope", []byte(text))
		if err := s.Put(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	for _, file := range []string{"note.txt", names[0][:10] + ".txt", ".1-abc.tmp"} {
		if err := os.WriteFile(filepath.Join(folder, "artifacts", file), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	f := func(begins string, want ...string) {
		t.Helper()
		inFolder, err := NamesIn(folder, begins)
		if err != nil || !slices.Equal(inFolder, want) {
			t.Errorf("in the folder %q is %q, %v", begins, inFolder, err)
		}
		onShelf, err := NamesOn(s, begins)
		if err != nil || !slices.Equal(onShelf, want[:min(len(want), 2)]) {
			t.Errorf("on the shelf %q is %q, %v", begins, onShelf, err)
		}
	}
	for _, name := range names {
		f(name[:16], name)
		f(name, name)
	}
	f("", names...)
	f("yyyyyyyyyyyyyyyy")
	if none, err := NamesIn(filepath.Join(folder, "nowhere"), ""); err != nil || len(none) > 0 {
		t.Errorf("nowhere are %q, %v", none, err)
	}
}
