package daemon

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func pin(t *testing.T, folder, listen string) *Card {
	t.Helper()
	c, err := Pin(folder, listen, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCardIsTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	folder := filepath.Join(t.TempDir(), "data")
	defer pin(t, folder, "127.0.0.1:7070").Unpin()
	for path, want := range map[string]os.FileMode{folder: 0o700, filepath.Join(folder, CardFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has the permissions %v, %v; want %v", path, info, err, want)
		}
	}
}

// The first epitome of a folder is the one that commands find; once it has ended, none is.
func TestCardOfTheFirstStays(t *testing.T) {
	folder := t.TempDir()
	first, second := pin(t, folder, "127.0.0.1:7070"), pin(t, folder, "127.0.0.1:7071")
	second.Unpin()
	if c, err := Read(folder); err != nil || !first.Admits(c.Token) || second.Admits(c.Token) {
		t.Fatalf("got %+v, %v; want the first's card", c, err)
	}
	first.Unpin()
	if c, err := Read(folder); err == nil {
		t.Fatalf("after its end there is %+v", c)
	}
}

// Whatever listens at the address of an epitome that was killed is asked nothing.
func TestDeadEpitomeIsNotAsked(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it is sent %s with %v", r.URL, r.Header)
	}))
	defer there.Close()
	folder := t.TempDir()
	pin(t, folder, there.Listener.Addr().String()).lock.Close() // as the end of its process would
	if cards := Running(folder); len(cards) > 0 {
		t.Errorf("found %+v", cards[0])
	}
	again := pin(t, folder, "127.0.0.1:7071")
	defer again.Unpin()
	if c, err := Read(folder); err != nil || c.Listen != "127.0.0.1:7071" {
		t.Errorf("after a restart got %+v, %v", c, err)
	}
}
