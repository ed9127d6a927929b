package offload

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNamesDifferByScopeContentAndSecret(t *testing.T) {
	c := newClock()
	one, other := opened(t, options("", c)), opened(t, options("", c))
	seen := map[string]string{}
	f := func(s *Shelf, what, scope, content string) {
		t.Helper()
		name := s.Name(scope, []byte(content))
		if !IsName(name) || s.Name(scope, []byte(content)) != name {
			t.Errorf("%s: %q is no name, or another the next time", what, name)
		}
		if before, found := seen[name]; found {
			t.Errorf("%s and %s have one name", what, before)
		}
		seen[name] = what
	}
	f(one, "content", "scope", "content")
	f(one, "content of another scope", "scope 2", "content")
	f(one, "another content", "scope", "content 2")
	f(one, "content whose scope took a letter of it", "scopec", "ontent")
	f(one, "content that took a letter of its scope", "scop", "econtent")
	f(one, "all content", "", "scopecontent")
	f(one, "all scope", "scopecontent", "")
	f(one, "nothing", "", "")
	f(other, "content under another secret", "scope", "content")
}

func TestNamesAreWellFormed(t *testing.T) {
	s := opened(t, options("", newClock()))
	rapid.Check(t, func(t *rapid.T) {
		name := s.Name(rapid.String().Draw(t, "scope"), rapid.SliceOf(rapid.Byte()).Draw(t, "content"))
		if !IsName(name) || len(name) != 26 || filepath.Base(name) != name || strings.ToLower(name) != name {
			t.Fatal(name)
		}
	})
}

func TestAddressIsWhatIsConfigured(t *testing.T) {
	const name = "abcdefghijklmnopqrstuvwxyz"
	folder := t.TempDir()
	path := filepath.Join(folder, "artifacts", name+".txt")
	f := func(folder, kind, url, want string) {
		t.Helper()
		o := options(folder, newClock())
		o.Address, o.URL = kind, url
		if got := opened(t, o).Address(name); got != want {
			t.Errorf("%q, %q: %q, want %q", kind, url, got, want)
		}
	}
	const url, at = "http://127.0.0.1:7070/-/artifacts/", "http://127.0.0.1:7070/-/artifacts/" + name
	f(folder, "path", url, path)
	f(folder, "url", url, at)
	f(folder, "url", strings.TrimRight(url, "/"), at)
	f(folder, "both", url, path+" or "+at)
	f(folder, "none", url, "")
	f(folder, "path", "", path)
	f("", "path", url, at)
	f("", "both", url, at)
	f("", "path", "", "")
	t.Chdir(folder)
	f(".", "path", "", path)
}
