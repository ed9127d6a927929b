package instance

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func pinned(t *testing.T, folder, listen string) *Card {
	t.Helper()
	b, err := Pin(folder, listen, false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCardProves(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "not", "there", "yet")
	mine := pinned(t, folder, "127.0.0.1:7070")
	read, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if *read != *mine {
		t.Fatalf("read %+v, pinned %+v", read, mine)
	}
	other := pinned(t, t.TempDir(), "127.0.0.1:7070")
	f := func(nonce, answer string, want bool) {
		t.Helper()
		if got := read.proves(nonce, answer); got != want {
			t.Errorf("the answer %q to %q proves: %v, want %v", answer, nonce, got, want)
		}
	}
	f("nonce", mine.Proof("nonce"), true)
	f("", mine.Proof(""), true)
	f("nonce", mine.Proof("another nonce"), false)
	f("nonce", other.Proof("nonce"), false)
	f("nonce", (&Card{}).Proof("nonce"), false)
	f("nonce", strings.ToUpper(mine.Proof("nonce")), false)
	f("nonce", mine.Secret, false)
	f("nonce", "", false)
}

func TestCardIsItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	folder := filepath.Join(t.TempDir(), "epitome")
	b := pinned(t, folder, "127.0.0.1:7070")
	f := func(path string, want os.FileMode) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the permissions %o, want %o", path, got, want)
		}
	}
	f(folder, 0o700)
	f(b.path, 0o600)
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; want the card alone", entries, err)
	}
}

func TestCardUnpin(t *testing.T) {
	folder := t.TempDir()
	first := pinned(t, folder, "127.0.0.1:7070")
	second := pinned(t, folder, "127.0.0.1:7071")
	first.Unpin()
	if b, err := Read(folder); err != nil || b.Secret != second.Secret {
		t.Fatalf("after the first has left there is %+v, %v; want the second's card", b, err)
	}
	second.Unpin()
	if _, err := Read(folder); !os.IsNotExist(err) {
		t.Fatalf("after the second has left: %v; want no card", err)
	}
	second.Unpin() // of a folder that somebody has cleaned up
}

func TestCardFailures(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Pin(file, "127.0.0.1:7070", false)
	if err == nil || !strings.Contains(err.Error(), "data folder "+file) || !strings.Contains(err.Error(), "--data") {
		t.Errorf("a file as data folder is answered: %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, CardFile), []byte(`{"listen":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(folder); err == nil {
		t.Errorf("half a card is read as %+v", b)
	}
}
