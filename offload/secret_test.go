package offload

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestSecretIsMadeOnce(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "secret")
	opened(t, options(folder, newClock()))
	secret, err := os.ReadFile(path)
	if err != nil || len(secret) != 32 || bytes.Equal(secret, make([]byte, 32)) {
		t.Fatalf("%x, %v", secret, err)
	}
	opened(t, options(folder, newClock()))
	if again, err := os.ReadFile(path); !bytes.Equal(again, secret) {
		t.Fatalf("%x, %v; it was %x", again, err, secret)
	}
	if left := listing(t, folder); len(left) != 0 {
		t.Fatalf("there are %q", left)
	}
}

func TestProcessesAgreeOnTheSecret(t *testing.T) {
	folder := t.TempDir()
	var all sync.WaitGroup
	said := make([]string, 6)
	for n := range said {
		all.Go(func() {
			out, err := child("name", folder, n).Output()
			if said[n] = string(out); err != nil || !IsName(strings.TrimSpace(said[n])) {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
	all.Wait()
	for _, name := range said {
		if name != said[0] {
			t.Fatalf("processes that began at once name one content %q", said)
		}
	}
}

func TestSecretOfAnotherSizeIsNotUsed(t *testing.T) {
	f := func(size int) {
		t.Helper()
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "secret"), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(options(folder, newClock())); err == nil || !strings.Contains(err.Error(), "delete it") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	f(31) // waits for the rest
	f(33)
}

func TestSecretThatOthersCouldReadIsClosed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "secret")
	if err := errors.Join(os.WriteFile(path, freshSecret(), 0o600), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o := options(folder, newClock())
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	opened(t, o)
	file, err := os.Stat(path)
	if err != nil || file.Mode() != 0o600 || !strings.Contains(log.String(), "could be read by others") {
		t.Fatalf("%v, %v, %s", file.Mode(), err, &log)
	}
}
