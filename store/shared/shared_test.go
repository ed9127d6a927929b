package shared_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/store"
	"epitome/store/shared"
	"epitome/store/shared/sharedtest"
	"epitome/store/storetest"
)

// opened is a store that the test closes at its end.
func opened(t testing.TB, o shared.Options) *shared.Store {
	t.Helper()
	if o.Prefix == "" {
		o.Prefix = "epitome:"
	}
	s, err := shared.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func at(url string) shared.Options { return shared.Options{Server: shared.Server{URL: url}} }

// patient is a store that waits as long as a busy machine takes.
func patient(url string) shared.Options {
	o := at(url)
	o.Timeout = 10 * time.Second
	return o
}

func TestContract(t *testing.T) {
	server := sharedtest.Start(t)
	storetest.TestStore(t, func(t testing.TB, c *storetest.Clock) (store.Store, func() store.Store) {
		server.Flush()
		c.OnPass(server.Pass)
		open := func() *shared.Store { return opened(t, patient(server.URL())) }
		s := open()
		return s, func() store.Store {
			_ = s.Close()
			s = open()
			return s
		}
	})
}

// TestStoresShareFacts has two stores of one server, and a third one of another prefix.
func TestStoresShareFacts(t *testing.T) {
	server := sharedtest.Start(t)
	a, b := opened(t, patient(server.URL())), opened(t, patient(server.URL()))
	o := patient(server.URL())
	o.Prefix = "other:"
	c := opened(t, o)
	fact, won, err := a.PutIfAbsent("k", []byte("a's"), time.Hour)
	if err != nil || !won {
		t.Fatal(won, err)
	}
	storetest.Want(t, b, "k", "a's")
	storetest.Want(t, c, "k", "")
	theirs, won, err := b.PutIfAbsent("k", []byte("b's"), time.Hour)
	if err != nil || won || theirs.Version != fact.Version || string(theirs.Bytes) != "a's" {
		t.Fatalf("%q, %d, %v, %v; a has version %d", theirs.Bytes, theirs.Version, won, err, fact.Version)
	}
	if _, swapped, err := b.CompareAndSwap("k", fact.Version, []byte("b's"), time.Hour); err != nil || !swapped {
		t.Fatal(swapped, err)
	}
	if _, swapped, err := a.CompareAndSwap("k", fact.Version, []byte("late"), time.Hour); err != nil || swapped {
		t.Fatal(swapped, err)
	}
	storetest.Want(t, a, "k", "b's")
}

// TestNewerValuesAreUnknown has a value that a newer epitome wrote: it is neither read nor replaced.
func TestNewerValuesAreUnknown(t *testing.T) {
	server := sharedtest.Start(t)
	s := opened(t, patient(server.URL()))
	if err := server.Client.Set(t.Context(), "epitome:.k", "\x02new", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Find("k"); found || err == nil {
		t.Error(found, err)
	}
	if _, won, err := s.PutIfAbsent("k", []byte("old"), time.Hour); won || err == nil {
		t.Error(won, err)
	}
	if now := server.Client.Get(t.Context(), "epitome:.k").Val(); now != "\x02new" {
		t.Errorf("there is %q", now)
	}
}

// lines is a log that can be read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) count(word string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), word)
}

// TestAFrozenServerIsLeftAlone counts what is asked: two questions, then nothing until the server is back.
func TestAFrozenServerIsLeftAlone(t *testing.T) {
	t.Parallel()
	for what, fail := range map[string]func(*sharedtest.Wire){
		"frozen": (*sharedtest.Wire).Freeze, "cut": (*sharedtest.Wire).Cut, "deaf": (*sharedtest.Wire).Deafen,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server := sharedtest.Start(t)
			wire := sharedtest.NewWire(t, server.Address)
			log := &lines{}
			o := at(wire.URL())
			o.Timeout = 3 * time.Second // a busy machine may take the usual one before an answer
			o.Log = slog.New(slog.NewTextHandler(log, nil))
			s := opened(t, o)
			sharedtest.Await(t, "an answer", func() error { _, _, err := s.Find("k"); return err })
			fail(wire)
			for range 2 {
				if _, _, err := s.Find("k"); err == nil {
					t.Fatalf("the server does not answer: %v", err)
				}
			}
			asked := s.State().Trips
			for range 1000 {
				if _, _, err := s.Find("k"); !errors.Is(err, shared.ErrAway) {
					t.Fatalf("the server is still asked: %v", err)
				}
				if _, _, err := s.PutIfAbsent("k", []byte("v"), time.Hour); !errors.Is(err, shared.ErrAway) {
					t.Fatalf("the server is still asked: %v", err)
				}
			}
			st := s.State()
			if st.Up || st.Why == "" || st.Trips > asked+20 { // once a second it is asked whether it is there
				t.Errorf("%+v after %d", st, asked)
			}
			wire.Mend()
			sharedtest.Await(t, "the server", func() error { _, _, err := s.Find("k"); return err })
			if away, back := log.count("does not answer"), log.count("answers again"); away != 1 || back != 1 {
				t.Errorf("%d lines say that it is away, %d that it is back", away, back)
			}
			if st := s.State(); !st.Up || st.Why != "" {
				t.Errorf("%+v", st)
			}
		})
	}
}

// TestBeginsWithoutAServer opens a store before its server runs.
func TestBeginsWithoutAServer(t *testing.T) {
	t.Parallel()
	server := sharedtest.Start(t)
	server.Kill()
	s := opened(t, at(server.URL()))
	if _, _, err := s.Find("k"); !errors.Is(err, shared.ErrAway) {
		t.Errorf("there is no server: %v", err)
	}
	server.Run()
	sharedtest.Await(t, "the server", func() error { _, err := s.Put("k", []byte("v"), time.Hour); return err })
}

// TestRefusalsAreToldWithTheirCure has a server without memory, and one that gives a right less: one line tells,
// however often it happens.
func TestRefusalsAreToldWithTheirCure(t *testing.T) {
	f := func(why, do string, args ...string) {
		t.Helper()
		server := sharedtest.Start(t, args...)
		var log lines
		o := patient(server.URL())
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		s := opened(t, o)
		for range 10 {
			if _, _, err := s.PutIfAbsent("k", []byte("v"), time.Hour); err == nil {
				t.Fatalf("%s: it is put", why)
			}
		}
		if log.count("store refuses what it is asked") != 1 || log.count(why+" ") != 1 || log.count(do) == 0 {
			t.Errorf("%s: the log says %s", why, log.text.String())
		}
	}
	f("OOM", "maxmemory", "--maxmemory", "1")
	f("NOREPLICAS", "replicas", "--min-replicas-to-write", "1")
	f("NOPERM", "docs/team.md", "--user", "default", "on", "nopass", "~*", "+@all", "-eval", "-evalsha")
}

// TestRefusalsAreNoFailures has a server that takes no writes: it is asked on, as reading goes on.
func TestRefusalsAreNoFailures(t *testing.T) {
	server := sharedtest.Start(t, "--min-replicas-to-write", "1")
	s := opened(t, patient(server.URL()))
	for range 10 {
		if _, _, err := s.PutIfAbsent("k", []byte("v"), time.Hour); err == nil || errors.Is(err, shared.ErrUnknown) {
			t.Fatalf("a refusal is an answer: %v", err)
		}
	}
	if _, found, err := s.Find("k"); found || err != nil {
		t.Error(found, err)
	}
	if st := s.State(); !st.Up || !st.Refuses || st.Refused != 10 {
		t.Errorf("%+v", st)
	}
}

// TestUnfitServersAreRefused has a store that is not the right one.
func TestUnfitServersAreRefused(t *testing.T) {
	t.Parallel()
	server := sharedtest.Start(t)
	o := patient(server.URL())
	o.Prefix, o.Mark = "epitome:", "one"
	first := opened(t, o)
	storetest.Put(t, first, "k", "v")
	storetest.Want(t, opened(t, o), "k", "v")
	o.Mark = "another"
	if s, err := shared.Open(o); !errors.Is(err, shared.ErrUnfit) {
		t.Fatal(s, err)
	}
	// The same if the server answers later.
	wire := sharedtest.NewWire(t, server.Address)
	wire.Cut()
	o.Server.URL = wire.URL()
	late := opened(t, o)
	wire.Mend()
	sharedtest.Await(t, "a refusal", func() error {
		if st := late.State(); st.Up || !strings.Contains(st.Why, "secret") {
			return fmt.Errorf("%+v", st)
		}
		return nil
	})
	if _, found, err := late.Find("k"); found || !errors.Is(err, shared.ErrAway) {
		t.Error(found, err)
	}
}

func TestServersAreChecked(t *testing.T) {
	f := func(url, want string) {
		t.Helper()
		err := shared.Server{URL: url}.Check()
		if want == "" && err == nil {
			return
		}
		if want == "" || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v; want %q", url, err, want)
		}
	}
	f("redis://localhost", "")
	f("redis://user:secret@[::1]:6379/3", "")
	f("rediss://redis.example.com:6380?server_name=a.example.com", "")
	f("unix:///run/redis.sock?db=2", "")
	f("redis+sentinel://:secret@a:26379,b,c:26379/main?db=1", "")
	f("rediss+cluster://a:6379,b:6379", "")
	f("http://a", "write a URL")
	f("a:6379", "write a URL")
	f("redis://:secret@", "no host")
	f("redis://a:99999", "port")
	f("redis://a,b", "several hosts")
	f("redis://a/x", "database")
	f("redis://a?x=secret", "query")
	f("redis+sentinel://a", "which server")
	f("redis+cluster://a/3", "one database")
	f("redis://u:%zz@a", "%")
	f("unix://", "no path")
	for _, s := range []shared.Server{
		{URL: "redis://a", CA: "ca.pem"}, {URL: "rediss://a", Cert: "c.pem"}, {URL: "redis://a", SentinelPassword: "p"},
	} {
		if s.Check() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
