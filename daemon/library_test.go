package daemon

import (
	"errors"
	"fmt"
	"testing"

	"epitome/inject"
	"epitome/rewrite/addition"
	"epitome/rewrite/plan/plantest"
)

// keepingFiles are files kept under docs, and a library of them over a shelf.
func keepingFiles(t *testing.T, files ...inject.NewFile) (inject.Files, *plantest.Cupboard, *library) {
	t.Helper()
	kept, shelf := inject.FilesIn(t.TempDir()), plantest.NewCupboard()
	if err := kept.Add("docs", files); err != nil {
		t.Fatal(err)
	}
	return kept, shelf, newLibrary(kept, shelf)
}

func textFile(title, text string) inject.NewFile {
	return inject.NewFile{Name: title, Text: []byte(text)}
}

// lentTo is what a library lends to a scope, with what lies on the shelf of it.
func lentTo(t *testing.T, l *library, shelf *plantest.Cupboard, scope string) (all string, list []addition.File) {
	t.Helper()
	list, err := l.Lend(scope, []string{"docs"})
	if err != nil {
		return err.Error(), nil
	}
	for _, f := range list {
		content, err := shelf.Get(f.Artifact)
		if err != nil || int64(len(content)) != f.Bytes || f.Context != "docs" {
			t.Errorf("%+v: %v, %d bytes", f, err, len(content))
		}
		all += fmt.Sprintf("%s: %s; ", f.Name, content)
	}
	return all, list
}

func TestFilesAreOnTheShelfWhenTheyAreLent(t *testing.T) {
	kept, shelf, l := keepingFiles(t, textFile("a.md", "one"), textFile("b.md", "two"))
	f := func(want string, change func() error) {
		t.Helper()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, _ := lentTo(t, l, shelf, "me"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
	f("a.md: one; b.md: two; ", func() error { return nil })
	f("a.md: one; b.md: two; ", func() error { shelf.Clear(); return nil })
	f("a.md: other; b.md: two; ", func() error { return kept.Add("docs", []inject.NewFile{textFile("a.md", "other")}) })
	f("b.md: two; ", func() error { return kept.Remove("docs", "a.md") })
	_, mine := lentTo(t, l, shelf, "me")
	if _, yours := lentTo(t, l, shelf, "you"); mine[0].Artifact == yours[0].Artifact {
		t.Error("two scopes share the name of an artifact")
	}
}

func TestWhatCannotBePutIsNotLent(t *testing.T) {
	_, shelf, l := keepingFiles(t, textFile("a.md", "one"))
	shelf.Err = errors.New("no room")
	if got, list := lentTo(t, l, shelf, "me"); list != nil {
		t.Errorf("lent is %s", got)
	}
	if _, err := l.Lend("me", []string{"none"}); !errors.Is(err, inject.ErrNoFiles) {
		t.Errorf("of a name that nobody has: %v", err)
	}
}

func TestOnlyWhatIsKeptAsItWasIsRenewed(t *testing.T) {
	kept, shelf, l := keepingFiles(t, textFile("a.md", "one"), textFile("b.md", "two"), textFile("c.md", "six"))
	_, list := lentTo(t, l, shelf, "me")
	added := kept.Add("docs", []inject.NewFile{textFile("b.md", "new")})
	if err := errors.Join(added, kept.Remove("docs", "c.md")); err != nil {
		t.Fatal(err)
	}
	shelf.Clear()
	l.Renew("me", list)
	for i, want := range []bool{true, false, false} {
		if got := shelf.Touch(list[i].Artifact); got != want {
			t.Errorf("%s is renewed: %t", list[i].Name, got)
		}
	}
}

// replacingShelf is one during whose first use somebody does something.
type replacingShelf struct {
	*plantest.Cupboard
	first func()
}

func (s *replacingShelf) Name(scope string, content []byte) string {
	if f := s.first; f != nil {
		s.first = nil
		f()
	}
	return s.Cupboard.Name(scope, content)
}

// Who keeps other files while they are lent takes them from nobody.
func TestFilesReplacedMeanwhileAreLent(t *testing.T) {
	kept, shelf, _ := keepingFiles(t, textFile("a.md", "one"), textFile("b.md", "two"))
	busy := &replacingShelf{shelf, func() {
		if err := kept.Add("docs", []inject.NewFile{textFile("b.md", "new")}); err != nil {
			t.Error(err)
		}
	}}
	if got, _ := lentTo(t, newLibrary(kept, busy), shelf, "me"); got != "a.md: one; b.md: new; " {
		t.Errorf("lent is %s", got)
	}
}
