package daemon

import (
	"strings"
	"testing"
	"time"

	"epitome/store"
	facts "epitome/store/memory"
	"epitome/summarize/memory"
	"epitome/unit"
)

// touchedFacts counts how often a fact is to live on.
type touchedFacts struct {
	store.Store
	n int
}

func (s *touchedFacts) Touch(key string, keep time.Duration) (bool, error) {
	s.n++
	return s.Store.Touch(key, keep)
}

// knowingLore is what is known to who shares the scope "me" in the project "/home/me/my shop".
func knowingLore(t *testing.T) (*touchedFacts, Lore) {
	t.Helper()
	kept := &touchedFacts{Store: facts.New(1<<20, time.Now)}
	local := memory.NewLocal(kept, func() time.Duration { return time.Hour }, time.Now)
	said := memory.Learned{Add: []memory.Entry{{Kind: memory.Fact, Text: "The port is 8080."}}}
	if err := local.Learn(memory.Owner{Scope: "me", Project: "/home/me/my shop"}, said); err != nil {
		t.Fatal(err)
	}
	return kept, Lore{Place: func() memory.Place { return local }, Local: local}
}

// wantRecall wants a text to be told, or none.
func wantRecall(t *testing.T, l Lore, scope, project, want string) {
	t.Helper()
	got, err := l.Recall(scope, project)
	if err != nil || (got == "") != (want == "") || !strings.Contains(got, want) {
		t.Errorf("in %q, who shares %q is told %q, %v, want %q", project, scope, got, err, want)
	}
}

func TestWhatWasLearnedIsToldToItsOwner(t *testing.T) {
	_, l := knowingLore(t)
	wantRecall(t, l, "me", "/home/me/my shop", "The port is 8080.")
	wantRecall(t, l, "me", "/home/me/my  shop", "The port is 8080.")
	wantRecall(t, l, "you", "/home/me/my shop", "")
	wantRecall(t, l, "me", "/home/me/other", "")
	wantRecall(t, l, "me", "", "")
	all, err := l.List()
	if err != nil || len(all) != 1 {
		t.Fatalf("listed is %+v, %v", all, err)
	}
	if err := l.Forget(all[0].Owner, all[0].Entries[0].ID); err != nil {
		t.Fatal(err)
	}
	wantRecall(t, l, "me", "/home/me/my shop", "")
}

func TestNothingIsToldWhileMemoriesAreOff(t *testing.T) {
	_, l := knowingLore(t)
	f := func(place func() memory.Place) {
		t.Helper()
		l.Place = place
		if wantRecall(t, l, "me", "/home/me/my shop", ""); l.Remembers() {
			t.Error("it remembers")
		}
	}
	f(nil)
	f(func() memory.Place { return nil })
}

func TestWhoOnlyLooksChangesNothing(t *testing.T) {
	kept, live := knowingLore(t)
	f := func(conf memory.Config, want string) {
		t.Helper()
		conf.Keep = unit.Duration(time.Hour)
		l := loreOf(conf, kept)
		wantRecall(t, l, "me", "/home/me/my shop", want)
		if all, err := l.List(); err != nil || len(all) != 1 {
			t.Errorf("%+v: listed is %+v, %v", conf, all, err)
		}
	}
	f(memory.Config{Enabled: true}, "8080")
	f(memory.Config{}, "")
	if kept.n != 0 {
		t.Errorf("it was touched %d times", kept.n)
	}
	if wantRecall(t, live, "me", "/home/me/my shop", "8080"); kept.n == 0 {
		t.Error("it is not touched when it is used")
	}
}
