package store_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/internal/fakeapi"
	"epitome/store"
)

// patience has a store wait as long as a busy machine takes.
const patience = "?read_timeout=10s&write_timeout=10s&dial_timeout=10s"

func openRedis(t testing.TB, url string, log *slog.Logger) *store.Redis {
	t.Helper()
	s, err := store.OpenRedis(url, "", log, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestRedisKeepsTheContract(t *testing.T) {
	t.Parallel()
	holdContract(t, func(t testing.TB) store.Store {
		return openRedis(t, fakeapi.StartRedis(t).URL()+patience, slog.New(slog.DiscardHandler))
	})
}

func TestRedisIsShared(t *testing.T) {
	server := fakeapi.StartRedis(t)
	log := slog.New(slog.DiscardHandler)
	a, b := openRedis(t, server.URL()+patience, log), openRedis(t, server.URL()+patience, log)
	other := openRedis(t, server.URL()+"/1"+patience, log)
	put(t, a, "k", "a's")
	want(t, b, "k", "a's")
	want(t, other, "k", "")
	if standing, err := b.Swap("k", nil, []byte("b's"), time.Hour); string(standing) != "a's" || err != nil {
		t.Fatalf("%q, %v", standing, err)
	}
}

// No call waits for a server that has not answered the one before. When it answers again, it is used again.
func TestRedisThatIsAwayIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for what, fail := range map[string]func(*fakeapi.Wire){
		"frozen": (*fakeapi.Wire).Freeze, "cut": (*fakeapi.Wire).Cut, "deaf": (*fakeapi.Wire).Deafen,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			wire, log := fakeapi.NewWire(t, fakeapi.StartRedis(t).Address), &fakeapi.Log{}
			s := openRedis(t, wire.URL()+"?read_timeout=1s", slog.New(slog.NewTextHandler(log, nil)))
			get := func() error { _, err := store.Get(s, "k"); return err }
			fakeapi.Await(t, "an answer", get)
			fail(wire)
			if err := get(); err == nil || s.State() != store.Away {
				t.Fatalf("the server does not answer: %v", err)
			}
			for range 1000 {
				_, err := s.Swap("k", nil, []byte("v"), time.Hour)
				if !errors.Is(err, store.ErrAway) || !errors.Is(get(), store.ErrAway) {
					t.Fatalf("the server is still asked: %v", err)
				}
			}
			wire.Mend()
			fakeapi.Await(t, "the server", get)
			if away, back := strings.Count(log.String(), "does not answer"), strings.Count(log.String(),
				"answers again"); away == 0 || away != back {
				t.Errorf("%d lines say that it is away, %d that it is back", away, back)
			}
		})
	}
}

// A server that takes a fifth of a second for each answer is slow, and not away.
func TestRedisThatIsSlowIsWaitedFor(t *testing.T) {
	t.Parallel()
	wire := fakeapi.NewWire(t, fakeapi.StartRedis(t).Address)
	wire.Delay(200 * time.Millisecond)
	s := openRedis(t, wire.URL(), slog.New(slog.DiscardHandler))
	for range 20 {
		if _, err := s.Swap("k", nil, []byte("v"), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if s.State() != store.Slow {
		t.Errorf("it %s", s.State())
	}
}

// Without a size that makes sense, the pool has its own.
func TestRedisPoolSizeIsChecked(t *testing.T) {
	openRedis(t, "redis://127.0.0.1:1?pool_size=-1", slog.New(slog.DiscardHandler))
}

// A server that takes no writes is read all the same, and one line of the log says why.
func TestRedisThatRefusesIsRead(t *testing.T) {
	t.Parallel()
	for why, settings := range map[string][]string{
		"OOM": {"--maxmemory", "1"}, "NOREPLICAS": {"--min-replicas-to-write", "1"},
	} {
		log := &fakeapi.Log{}
		s := openRedis(t, fakeapi.StartRedis(t, settings...).URL()+patience, slog.New(slog.NewTextHandler(log, nil)))
		for range 10 {
			if _, err := s.Swap("k", nil, []byte("v"), time.Hour); err == nil || errors.Is(err, store.ErrAway) {
				t.Fatalf("%s: %v", why, err)
			}
		}
		want(t, s, "k", "")
		if s.State() != store.Refuses || strings.Count(log.String(), "refuses") != 1 ||
			strings.Count(log.String(), why+" ") != 1 {
			t.Errorf("%s: %s, the log says %s", why, s.State(), log.String())
		}
	}
}

// TestRedisCluster has a Cluster of one server, which has all slots.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	server := fakeapi.StartRedis(t, "--cluster-enabled", "yes")
	if err := server.Client.Do(t.Context(), "cluster", "addslotsrange", 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	s := openRedis(t, server.URL()+patience+"&addr="+server.Address, slog.New(slog.DiscardHandler))
	fakeapi.Await(t, "the Cluster", func() error { _, err := s.Swap("k", nil, []byte("v"), time.Hour); return err })
	for i := range 20 {
		put(t, s, fmt.Sprint("k", i), "v")
	}
	for i := range 20 {
		want(t, s, fmt.Sprint("k", i), "v")
	}
	testValues(t, s)
}

func TestRedisBehindASentinel(t *testing.T) {
	t.Parallel()
	server := fakeapi.StartRedis(t)
	sentinel := fakeapi.StartSentinel(t, server)
	s := openRedis(t, "redis://"+sentinel+patience+"&master_name=main", slog.New(slog.DiscardHandler))
	fakeapi.Await(t, "the server", func() error { _, err := s.Swap("k", nil, []byte("v"), time.Hour); return err })
	want(t, openRedis(t, server.URL()+patience, slog.New(slog.DiscardHandler)), "k", "v")
}

func TestRedisOverTLS(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	fakeapi.Issue(t, "epitome.test", cert, key)
	address := fakeapi.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	fakeapi.StartRedis(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file",
		cert,
		"--tls-auth-clients", "no")
	f := func(ca string) error {
		s, err := store.OpenRedis("rediss://"+address+patience, ca, slog.New(slog.DiscardHandler), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		_, err = s.Swap("a", nil, []byte("b"), time.Hour)
		return err
	}
	if err := f(cert); err != nil {
		t.Error(err)
	}
	if f("") == nil {
		t.Error("a server is trusted for which nobody vouches")
	}
}

func TestRedisURLsAreChecked(t *testing.T) {
	f := func(url, ca, want string) {
		t.Helper()
		err := store.CheckRedis(url, ca)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) ||
			err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v; want %q", url, err, want)
		}
	}
	f("redis://localhost", "", "")
	f("unix:///run/redis.sock?db=2", "", "")
	f("redis://:secret@a:26379/1?addr=b:26379&addr=c:26379&master_name=main&sentinel_password=secret", "", "")
	f("rediss://a:6379?addr=b:6379", "", "")
	f("http://a", "", "scheme")
	f("redis://:secret@a:x", "", "not a URL")
	f("redis://a?x=secret", "", "option")
	f("redis://a/3?addr=b", "", "one database")
	f("redis://a", "ca.pem", "rediss://")
}
