package instance

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"epitome/console"
)

func pinned(t *testing.T, folder, listen string) *Card {
	t.Helper()
	c, err := Pin(folder, listen, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCardIsItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	folder := filepath.Join(t.TempDir(), "epitome")
	pinned(t, folder, "127.0.0.1:7070")
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
	f(filepath.Join(folder, CardFile), 0o600)
}

func TestCardOfAnotherStays(t *testing.T) {
	folder := t.TempDir()
	first, second := pinned(t, folder, "127.0.0.1:7070"), pinned(t, folder, "127.0.0.1:7071")
	first.Unpin()
	if c, err := Read(folder); err != nil || c.Token != second.Token {
		t.Fatalf("after the first has left there is %+v, %v; want the second's card", c, err)
	}
	second.Unpin()
	if _, err := Read(folder); !os.IsNotExist(err) {
		t.Fatalf("after the second has left: %v; want no card", err)
	}
}

// An epitome is used that answers with the proof, to an agent that needs no key and no certificate of it.
func TestOnlyAnEpitomeWithTheProofIsUsed(t *testing.T) {
	f := func(change func(*State), secure, used bool) {
		t.Helper()
		var c *Card
		start := httptest.NewServer
		if secure {
			start = httptest.NewTLSServer
		}
		s := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/-/health" || !c.Admits(r.Header.Get(console.OwnerHeader)) {
				t.Errorf("asked was %s with %q", r.URL, r.Header)
			}
			said := State{Proof: c.Proof, Upstreams: map[string]string{"a": "http://a.example"}}
			change(&said)
			_ = json.NewEncoder(w).Encode(said)
		}))
		defer s.Close()
		folder := t.TempDir()
		var err error
		if c, err = Pin(folder, s.Listener.Addr().String(), secure); err != nil {
			t.Fatal(err)
		}
		if got := lookup(folder, []Target{{URL: "http://a.example"}}); (got != nil) != used {
			t.Errorf("used %v, want %v", got != nil, used)
		}
	}
	f(func(*State) {}, false, true)
	f(func(s *State) { s.Proof = "" }, false, false)
	f(func(s *State) { s.Proof += "x" }, false, false)
	f(func(s *State) { s.Keyed = true }, false, false)
	f(func(s *State) { s.Upstreams = nil }, false, false)
	f(func(*State) {}, true, false)
}

func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Leases
		l.Start(true)
		f := func(wait time.Duration, want bool) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if got := l.over(); got != want {
				t.Fatalf("over %v, want %v", got, want)
			}
		}
		f(20*time.Second, false)
		first, _ := l.Take()
		second, _ := l.Take()
		f(time.Hour, false)
		first()
		f(time.Hour, false)
		second()
		f(time.Second, false)
		third, ok := l.Take()
		if !ok {
			t.Fatal("a run that follows closely is refused")
		}
		f(time.Hour, false)
		third()
		f(3*time.Second, true)
		if _, ok := l.Take(); ok {
			t.Error("a user was taken after the end")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var l Leases
		l.Start(true)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if !l.over() {
			t.Error("it lives on although no user has come")
		}
	})
}
