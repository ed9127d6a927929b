package shared_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"epitome/proxy/certificate/certificatetest"
	"epitome/store/shared"
	"epitome/store/shared/sharedtest"
)

// TestSentinelsNameTheServer has the server die: the one that Sentinels name then is used, with all that it had.
func TestSentinelsNameTheServer(t *testing.T) {
	t.Parallel()
	w := sharedtest.StartWatched(t)
	s := opened(t, patient(w.URL))
	if _, err := s.Put("before", []byte("kept"), time.Hour); err != nil {
		t.Fatal(err)
	}
	sharedtest.Await(t, "the copy", func() error { return w.Second.Client.Get(context.Background(), "epitome:.before").Err() })
	w.First.Kill()
	sharedtest.Await(t, "the other server", func() error {
		_, err := s.Put("after", []byte("new"), time.Hour)
		return err
	})
	for key, want := range map[string]string{"before": "kept", "after": "new"} {
		if fact, found, err := s.Find(key); err != nil || !found || string(fact.Bytes) != want {
			t.Errorf("under %s is %q, %v, %v", key, fact.Bytes, found, err)
		}
	}
}

// TestRightsThatAreDocumentedAreEnough has a user who may do what docs/team.md says, and no more.
func TestRightsThatAreDocumentedAreEnough(t *testing.T) {
	server := sharedtest.Start(t, "--user", "default", "on", "nopass", "~*", "&*", "+@all",
		"--user", "epitome", "on", ">pass", "~epitome:*", "-@all", "+@read", "+@write", "+@connection", "-@dangerous",
		"+eval", "+evalsha", "+wait", "+time", "+info")
	s := opened(t, patient("redis://epitome:pass@"+server.Address))
	if _, err := s.Put("a", []byte("b"), time.Hour); err != nil {
		t.Error(err)
	}
	if _, won, err := s.PutIfAbsent("a", []byte("c"), time.Hour); won || err != nil {
		t.Error(won, err)
	}
	adds := []shared.Add{{Key: "k", Value: []byte("v"), Must: true}}
	if lost, _, err := s.AddAll("tag", adds, time.Hour); lost >= 0 || err != nil {
		t.Error(lost, err)
	}
	if err := s.Do([]shared.Later{{Key: shared.Key{Name: "a"}, Keep: 2 * time.Hour}}); err != nil {
		t.Error(err)
	}
	if up := s.State().Up; !up {
		t.Error("it is away")
	}
	wrong, err := shared.Open(patient("redis://epitome:wrong@" + server.Address))
	if err == nil {
		defer func() { _ = wrong.Close() }()
		_, _, err = wrong.Find("a")
	}
	if err == nil {
		t.Error("with a wrong password it is used")
	}
}

// TestTLSIsSpokenWithWhomItTrusts has a server that speaks TLS alone.
func TestTLSIsSpokenWithWhomItTrusts(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	certificatetest.Issue(t, cert, key, "redis.example.com")
	address := sharedtest.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	sharedtest.Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert,
		"--tls-auth-clients", "no")
	at := "rediss://" + address
	o := patient(at)
	o.Server.CA = cert
	if _, err := opened(t, o).Put("a", []byte("b"), time.Hour); err != nil {
		t.Error(err)
	}
	s, err := shared.Open(patient(at)) // nobody vouches for it
	if err == nil {
		defer func() { _ = s.Close() }()
		_, _, err = s.Find("a")
	}
	if err == nil {
		t.Error("a server is trusted for which nobody vouches")
	}
	if errors.Is(err, shared.ErrUnfit) {
		t.Error("it is unfit: ", err)
	}
}
