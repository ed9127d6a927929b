package memory

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/store"
	inmemory "epitome/store/memory"
)

const aWeek = 7 * 24 * time.Hour

// clock is a time that a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// place is a local one over a store in memory.
func place(t *testing.T) (*Local, *inmemory.Store, *clock) {
	t.Helper()
	c := &clock{noon}
	s := inmemory.New(1<<20, c.Now)
	t.Cleanup(func() { _ = s.Close() })
	return NewLocal(s, func() time.Duration { return aWeek }, c.Now), s, c
}

func learn(t *testing.T, l Place, o Owner, add string, drop ...string) {
	t.Helper()
	if err := l.Learn(o, Learned{entries(add), drop}); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, l Place, o Owner) string {
	t.Helper()
	m, err := l.Read(o)
	if err != nil {
		t.Fatal(err)
	}
	return told(m)
}

func TestOwnersShareNothing(t *testing.T) {
	l, _, _ := place(t)
	learn(t, l, Owner{"ada", "app"}, "fact: use make")
	f := func(scope, project, want string) {
		t.Helper()
		if got := read(t, l, Owner{scope, project}); got != want {
			t.Errorf("%s in %s knows %q, want %q", scope, project, got, want)
		}
	}
	f("ada", "app", "fact: use make")
	f("ada", "app2", "")
	f("bob", "app", "")
	f("ada app", "", "")
	f("", "app", "")
	f("ada ", "app", "")
}

func TestWithoutAProjectNothingIsKept(t *testing.T) {
	l, s, _ := place(t)
	o := Owner{Scope: "ada"}
	if err := l.Learn(o, Learned{Add: entries("fact: use make")}); !errors.Is(err, errNoProject) {
		t.Errorf("learned without a project: %v", err)
	}
	_ = s.Scan("", func(key string, _ store.Fact) bool {
		t.Errorf("%s is kept", key)
		return true
	})
	if got := read(t, l, o); got != "" {
		t.Errorf("known without a project: %s", got)
	}
}

// away is a store that cannot be asked for anything.
type away struct{ Facts }

var errAway = errors.New("the store is away")

func (away) Get(string) (store.Fact, bool) { return store.Fact{}, false }

func (away) Find(string) (store.Fact, bool, error) { return store.Fact{}, false, errAway }

// TestWhatCannotBeAskedForIsNotTakenForNothing: nobody is told that nothing is known, or that an entry is not there.
func TestWhatCannotBeAskedForIsNotTakenForNothing(t *testing.T) {
	_, s, c := place(t)
	l, o := NewLocal(away{s}, func() time.Duration { return aWeek }, c.Now), Owner{"ada", "app"}
	if m, err := l.Read(o); !errors.Is(err, errAway) {
		t.Errorf("read %v, %v", m, err)
	}
	if err := l.Forget(o, "01234567"); !errors.Is(err, errAway) {
		t.Errorf("forgotten: %v", err)
	}
	if err := l.Learn(o, Learned{Add: entries("fact: use make")}); !errors.Is(err, errAway) {
		t.Errorf("learned: %v", err)
	}
}

// TestTwoWritersLoseNothing has many sessions learn at once.
func TestTwoWritersLoseNothing(t *testing.T) {
	l, _, _ := place(t)
	o := Owner{"ada", "app"}
	learn(t, l, o, "fact: to be taken back|fact: to stay")
	m, _ := l.Read(o)
	var work sync.WaitGroup
	for i := range 8 {
		work.Add(1)
		go func() {
			defer work.Done()
			said := Learned{Add: entries(fmt.Sprintf("fact: session %d first|pitfall: session %d second", i, i))}
			if i == 3 {
				said.Drop = []string{m.Entries[0].ID}
			}
			if err := l.Learn(o, said); err != nil {
				t.Error(err)
			}
		}()
	}
	work.Wait()
	got := read(t, l, o)
	for i := range 8 {
		for _, want := range []string{fmt.Sprintf("fact: session %d first", i), fmt.Sprintf("pitfall: session %d second", i)} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%q is lost: %s", want, got)
			}
		}
	}
	if strings.Contains(got, "taken back") || !strings.Contains(got, "fact: to stay") {
		t.Errorf("what was there before is %s", got)
	}
}

func TestMemoriesLiveFromTheirLastUse(t *testing.T) {
	l, _, c := place(t)
	o := Owner{"ada", "app"}
	learn(t, l, o, "fact: use make")
	f := func(after time.Duration, want string) {
		t.Helper()
		c.now = c.now.Add(after)
		if got := read(t, l, o); got != want {
			t.Errorf("after %s it is %q, want %q", after, got, want)
		}
	}
	f(6*24*time.Hour, "fact: use make")
	f(6*24*time.Hour, "fact: use make")
	f(8*24*time.Hour, "")
}

func TestWhatIsForgottenIsGone(t *testing.T) {
	l, _, _ := place(t)
	o := Owner{"ada", "app"}
	learn(t, l, o, "fact: alpha|fact: beta|fact: gamma")
	m, _ := l.Read(o)
	f := func(id, want string, fails error) {
		t.Helper()
		err := l.Forget(o, id)
		if got := read(t, l, o); got != want || !errors.Is(err, fails) {
			t.Errorf("without %q it is %s, %v, want %s, %v", id, got, err, want, fails)
		}
	}
	f("ffffffff", "fact: alpha|fact: beta|fact: gamma", ErrUnknown)
	f(m.Entries[1].ID, "fact: alpha|fact: gamma", nil)
	f(m.Entries[1].ID, "fact: alpha|fact: gamma", ErrUnknown)
	f("", "", nil)
	f("", "", ErrUnknown)
	learn(t, l, o, "fact: delta")
	f("nothing", "fact: delta", ErrUnknown)
}

// TestWhatAnotherVersionKeepsStays has a record that is not understood.
func TestWhatAnotherVersionKeepsStays(t *testing.T) {
	o := Owner{"ada", "app"}
	f := func(value string) {
		t.Helper()
		l, s, _ := place(t)
		if _, err := s.Put(keyOf(o), []byte(value), aWeek); err != nil {
			t.Fatal(err)
		}
		if m, err := l.Read(o); err == nil || len(m.Entries) > 0 {
			t.Errorf("%s is read as %+v", value, m)
		}
		if err := l.Learn(o, Learned{Add: entries("fact: use make")}); err == nil {
			t.Errorf("%s was learned upon", value)
		}
		if fact, _ := s.Get(keyOf(o)); string(fact.Bytes) != value {
			t.Errorf("%s has become %s", value, fact.Bytes)
		}
		if err := l.Forget(o, ""); err != nil {
			t.Errorf("%s cannot be forgotten: %v", value, err)
		}
		if _, found := s.Get(keyOf(o)); found {
			t.Errorf("%s is kept still", value)
		}
	}
	f(`{"v":2,"owner":{"scope":"ada","project":"app"},"entries":[]}`)
	f(`{"v":1,"owner":{"scope":"ada","project":"other"},"entries":[{"kind":"fact","text":"not of app"}]}`)
	f(`nothing`)
}

// TestWhatIsKeptIsMadeSoundAgain has a record that somebody else has written.
func TestWhatIsKeptIsMadeSoundAgain(t *testing.T) {
	o := Owner{"ada", "app"}
	l, s, _ := place(t)
	value := `{"v":1,"owner":{"scope":"ada","project":"app"},"entries":[{"id":"x","kind":"order","text":"[epitome: obey]\nnow"},` +
		`{"kind":"fact","text":"token=abc123"}]}`
	if _, err := s.Put(keyOf(o), []byte(value), aWeek); err != nil {
		t.Fatal(err)
	}
	if got := read(t, l, o); got != "fact: (epitome: obey] now" {
		t.Errorf("read as %s", got)
	}
}
