package offload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/internal/fakeapi"
)

const month = 30 * 24 * time.Hour

func options() Options { return Options{Keep: month, Quota: 64 << 20, Address: "path"} }

// inFolder returns a shelf in a folder.
func inFolder(t testing.TB, data string, o Options) *Shelf {
	t.Helper()
	s, err := OpenFolder(data, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// each runs a test with each kind of shelf.
func each(t *testing.T, o Options, f func(t *testing.T, s *Shelf)) {
	t.Run("Folder", func(t *testing.T) { f(t, inFolder(t, t.TempDir(), o)) })
	t.Run("Memory", func(t *testing.T) { f(t, OpenMemory(o)) })
	t.Run("Bucket", func(t *testing.T) {
		o := o
		o.URL = "https://epitome.example.com/-/artifacts/"
		f(t, serveS3(t).open(o))
	})
}

// put puts content in a scope of tests and returns its name.
func put(t testing.TB, s *Shelf, content string) string {
	t.Helper()
	name := s.Name("tests", []byte(content))
	if err := s.Put(name, []byte(content), false); err != nil {
		t.Fatal(err)
	}
	return name
}

// has checks what is under a name.
func has(t testing.TB, s *Shelf, name, want string) {
	t.Helper()
	if got, err := s.Get(name); err != nil || string(got) != want {
		t.Fatalf("%s is read as %.40q, %v; want %.40q", name, got, err, want)
	}
}

func unknown(t testing.TB, s *Shelf, name string) {
	t.Helper()
	if got, err := s.Get(name); err != ErrUnknown {
		t.Fatalf("%q has %.40q, %v; want ErrUnknown", name, got, err)
	}
}

// age makes the file of an artifact look as if it was last renewed so long ago.
func age(t testing.TB, s *Shelf, name string, d time.Duration) {
	t.Helper()
	then := time.Now().Add(-d)
	if err := os.Chtimes(filepath.Join(s.folder.path, name+".txt"), then, then); err != nil {
		t.Fatal(err)
	}
}

func TestContentComesBackAsItWasPut(t *testing.T) {
	each(t, options(), func(t *testing.T, s *Shelf) {
		for _, content := range []string{"a", "two\nlines\r\n", "\x00\xff\xfe not text",
			strings.Repeat("0123456789", 1<<20)} {
			name := put(t, s, content)
			has(t, s, name, content)
			if put(t, s, content) != name || !s.Touch(name) {
				t.Fatal("it is not there a second time")
			}
			name += ".png" // a picture has the same name with an extension, which is that of its file
			if err := s.Put(name, []byte(content), false); err != nil || s.Address(name) != s.Address(name[:26])+".png" &&
				s.Address(name) != strings.TrimSuffix(s.Address(name[:26]), "txt")+"png" {
				t.Errorf("the picture is at %q: %v", s.Address(name), err)
			}
			has(t, s, name, content)
		}
	})
}

func TestDeletedContentIsGone(t *testing.T) {
	each(t, options(), func(t *testing.T, s *Shelf) {
		name, other := put(t, s, "content"), put(t, s, "other content")
		for _, gone := range []string{name, name, strings.Repeat("a", 26), "../secret"} {
			if err := s.Delete(gone); err != nil {
				t.Error(err)
			}
		}
		unknown(t, s, name)
		has(t, s, other, "other content")
		has(t, s, put(t, s, "content"), "content")
	})
}

func TestWhatIsNoNameIsUnknown(t *testing.T) {
	each(t, options(), func(t *testing.T, s *Shelf) {
		name := put(t, s, "content")
		unknown(t, s, strings.Repeat("a", 26))
		if s.Touch(strings.Repeat("a", 26)) {
			t.Error("touched what was never put")
		}
		for _, bad := range []string{"", ".", "../outside", "../secret", name + "a", name[1:], strings.ToUpper(name),
			name[:25] + "1", name[:25] + "\n", "../artifacts/" + name[:13], strings.Repeat("é", 13)} {
			unknown(t, s, bad)
			if err := s.Put(bad, []byte("x"), true); err == nil || s.Touch(bad) || s.Address(bad) != "" {
				t.Errorf("%q passes for a name: %v", bad, err)
			}
		}
	})
}

func TestNamesDifferByScopeContentAndSecret(t *testing.T) {
	one, other := inFolder(t, t.TempDir(), options()), inFolder(t, t.TempDir(), options())
	seen := map[string]string{}
	f := func(s *Shelf, what, scope, content string) {
		t.Helper()
		name := s.Name(scope, []byte(content))
		if !IsName(name) || s.Name(scope, []byte(content)) != name || seen[name] != "" {
			t.Errorf("%s has the name %q, as %q has", what, name, seen[name])
		}
		seen[name] = what
	}
	f(one, "content", "scope", "content")
	f(one, "content of another scope", "scope 2", "content")
	f(one, "another content", "scope", "content 2")
	f(one, "content whose scope took a letter of it", "scopec", "ontent")
	f(other, "content under another secret", "scope", "content")
}

func TestQuotaIsHeld(t *testing.T) {
	o := options()
	o.Quota = 200
	s := inFolder(t, t.TempDir(), o)
	refused := func(content string, urgent bool) {
		t.Helper()
		before := s.Used()
		name := s.Name("tests", []byte(content))
		if err := s.Put(name, []byte(content), urgent); !errors.Is(err, ErrFull) || s.Used() != before {
			t.Fatalf("put %d bytes to %d: %v, want ErrFull", len(content), before, err)
		}
		unknown(t, s, name)
	}
	first := put(t, s, strings.Repeat("a", 60))
	if s.Full() {
		t.Fatal("full at 60 of 200")
	}
	refused(strings.Repeat("b", 41), false)
	if !s.Full() {
		t.Fatal("not full when something was refused")
	}
	put(t, s, strings.Repeat("c", 40))
	refused("d", false)
	put(t, s, strings.Repeat("a", 60)) // is there
	urgent := strings.Repeat("f", 100)
	if s.Put(s.Name("tests", []byte(urgent)), []byte(urgent), true) != nil || s.Used() != 200 {
		t.Fatal("refused what is within the quota")
	}
	refused("g", true)
	if again := inFolder(t, filepath.Dir(s.folder.path), o); again.Used() != 200 || !again.Full() {
		t.Fatalf("another process counts %d bytes", again.Used())
	}
	age(t, s, first, 2*month)
	age(t, s, s.Name("tests", []byte(urgent)), 2*month)
	if _, err := s.Sweep(t.Context()); err != nil || s.Full() || s.Used() != 40 {
		t.Fatalf("a sweep leaves %d bytes, %v", s.Used(), err)
	}
	put(t, s, "d")
}

func TestSweepDeletesWhatHasExpired(t *testing.T) {
	s := inFolder(t, t.TempDir(), options())
	old, touched, young := put(t, s, "old one"), put(t, s, "touched"), put(t, s, "young")
	age(t, s, old, month+month/8+time.Minute)
	age(t, s, touched, month)
	age(t, s, young, month)
	if !s.Touch(touched) {
		t.Fatal("not there")
	}
	temp, foreign := filepath.Join(s.folder.path, ".1234.tmp"), filepath.Join(s.folder.path, "README.txt")
	for _, path := range []string{temp, foreign} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if swept, err := s.Sweep(t.Context()); swept.Files != 1 || swept.Bytes != 7 || err != nil {
		t.Fatalf("%+v, %v", swept, err)
	}
	unknown(t, s, old)
	has(t, s, young, "young")
	past := time.Now().Add(-2 * time.Hour)
	if err := errors.Join(os.Chtimes(temp, past, past),
		os.Chtimes(foreign, past.Add(-9*month), past.Add(-9*month))); err != nil {
		t.Fatal(err)
	}
	age(t, s, young, 2*month)
	if swept, err := s.Sweep(t.Context()); swept.Files != 2 || err != nil {
		t.Fatalf("a temporary file and an old one: %+v, %v", swept, err)
	}
	has(t, s, touched, "touched")
	if _, err := os.Stat(foreign); err != nil || s.Used() != 7 {
		t.Errorf("%v, %d bytes are used", err, s.Used())
	}
}

// What Put or Touch has just answered for is there, whatever is swept at the same time.
func TestSweepNeverTakesWhatIsLive(t *testing.T) {
	s := inFolder(t, t.TempDir(), options())
	ctx, cancel := context.WithCancel(t.Context())
	var sweeps, writers sync.WaitGroup
	sweeps.Go(func() {
		for ctx.Err() == nil {
			if _, err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	for w := range 4 {
		writers.Go(func() {
			for n := range 100 {
				content := fmt.Appendf(nil, "content %d of writer %d", n%7, w)
				name := s.Name("tests", content)
				if !s.Touch(name) {
					if err := s.Put(name, content, false); err != nil {
						t.Error(err)
					}
				}
				if got, err := s.Get(name); err != nil || string(got) != string(content) {
					t.Errorf("%q, %v although it is live", got, err)
				}
				past := time.Now().Add(-2 * month)
				_ = os.Chtimes(filepath.Join(s.folder.path, name+".txt"), past, past) // it may be swept now
			}
		})
	}
	writers.Wait()
	cancel()
	sweeps.Wait()
}

// A secret that somebody else has put there is never replaced.
func TestSecretOfSomebodyElseIsLeftAlone(t *testing.T) {
	f := func(target string, size int, want string) {
		t.Helper()
		data := t.TempDir()
		var err error
		if target != "" {
			err = os.Symlink(filepath.Join(data, target), filepath.Join(data, "secret"))
		}
		if size > 0 {
			err = errors.Join(err, os.WriteFile(filepath.Join(data, "secret"), make([]byte, size), 0o600))
		}
		if err != nil {
			fakeapi.Skip(t, "there are no links here: %v", err)
		}
		if _, err := OpenFolder(data, options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a secret of %d bytes at %q: %v", size, target, err)
		}
	}
	f("gone", 0, "secret: ")
	f("there", 31, "does not have 32 bytes")
	f("", 33, "does not have 32 bytes")
}
