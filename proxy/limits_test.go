package proxy

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/event"
	"epitome/store"
)

// Three replicas that share a store hold a limit together; one that dies takes no requests under way with it, and its
// dollars stay counted; a clock that goes back over midnight gives nobody a second day.
func TestReplicasShareLimits(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(1 << 20)
	now := time.Date(2026, 11, 30, 23, 50, 0, 0, time.UTC)
	replicas := []*meter{newMeter("a"), newMeter("b"), newMeter("c")}
	share := func(all ...*meter) {
		t.Helper()
		for range 3 { // the first calls tell of each other
			for _, m := range all {
				if err := m.share(now, s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	team := []limited{{"team web", Limits{RequestsPerMinute: 60, TokensPerMinute: 100_000, DollarsPerDay: 2, Concurrent: 40}}}
	wants := func(m *meter, key string) {
		t.Helper()
		err := m.admit(now, team)
		if key == "" && err != nil || key != "" && (err == nil || !strings.Contains(err.Error(), "("+key+")")) {
			t.Errorf("%s wanted at %v, got %v", key, now, err)
		}
	}
	for i := range 30 {
		wants(replicas[i%3], "")
	}
	share(replicas...)
	for i := range 10 {
		wants(replicas[i%2], "")
		share(replicas...)
	}
	wants(replicas[2], "concurrent")
	for _, m := range replicas[:2] {
		m.add(now, team, use{UnderWay: -15})
	}
	share(replicas...)
	for range 20 {
		wants(replicas[0], "")
		share(replicas...)
	}
	wants(replicas[1], "requests_per_minute")
	now = now.Add(time.Minute)
	wants(replicas[1], "")
	replicas[1].add(now, team, use{Tokens: 100_000})
	share(replicas...)
	wants(replicas[2], "tokens_per_minute")
	replicas[2].add(now, team, use{Nano: 2e9})
	share(replicas...)
	now = now.Add(5 * time.Minute)
	share(replicas[:2]...) // the third one has died with ten requests under way
	wants(replicas[0], "dollars_per_day")
	again := newMeter("d")
	again.add(now, team, use{})
	share(again)
	wants(again, "dollars_per_day")
	now = now.Add(10 * time.Minute)
	wants(again, "")
	again.add(now, team, use{Nano: 2e9})
	now = now.Add(-10 * time.Minute)
	wants(again, "dollars_per_day")

	// Behind a balancer that sends a client to one replica, that one alone admits as much as the limit says.
	bob := []limited{{"client bob", Limits{RequestsPerMinute: 50}}}
	sticky, idle := newMeter("e"), newMeter("f")
	share(sticky, idle)
	for n := range 50 {
		if err := sticky.admit(now, bob); err != nil {
			t.Fatalf("request %d of 50: %v", n+1, err)
		}
	}
	if sticky.admit(now, bob) == nil {
		t.Error("50 requests a minute are 51")
	}
}

// A store that fails locks nobody out, and a burst at one replica passes no limit.
func TestLimitsHoldWithoutTheStoreAndInABurst(t *testing.T) {
	t.Parallel()
	m, s := newMeter("a"), store.NewMemory(1<<20)
	_ = s.Close()
	alice := []limited{{"client alice", Limits{Concurrent: 4, RequestsPerMinute: 5000}}}
	var work sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 1000 {
		work.Go(func() {
			var r *refusal
			err := m.admit(time.Now(), alice)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				admitted++
			} else if !errors.As(err, &r) || r.status != 429 || r.lines != "Retry-After: 1\r\n" {
				t.Errorf("refused with %v", err)
			}
		})
	}
	work.Wait()
	if err := m.share(time.Now(), s); admitted != 4 || err == nil {
		t.Errorf("%d are admitted, and a closed store gives %v", admitted, err)
	}
	m.add(time.Now(), alice, use{UnderWay: -1})
	if err := m.admit(time.Now(), alice); err != nil {
		t.Error(err)
	}
}

// Limits, modes and the end of a key's time are those of the client, and a refusal reaches no upstream.
func TestClientsAreHeldToTheirLimits(t *testing.T) {
	t.Parallel()
	r := on(t, taking, func(s *Settings) {
		keyed(s)
		s.Clients["alice"] = ClientConfig{Keys: s.Clients["alice"].Keys, Limits: Limits{RequestsPerMinute: 2, Concurrent: 1}}
		s.Clients["bob"] = ClientConfig{Keys: s.Clients["bob"].Keys, Modes: []string{event.ModeOn}, Expires: "2126-01-01"}
		s.Clients["carl"] = ClientConfig{Keys: []string{HashOfKey("sk-epitome-CARL")}, Expires: "2026-01-01"}
	})
	f := func(status int, code, key string, lines ...string) {
		t.Helper()
		resp, body := r.ask(post(chatTarget, long, append(lines, "x-api-key: "+key)...))
		r.event()
		if resp.StatusCode != status || code != "" && !strings.Contains(body, `"code":"`+code+`"`) {
			t.Errorf("%s: %s %s", key, resp.Status, body)
		}
	}
	f(403, "mode_forbidden", bobs, "x-epitome-mode: off")
	f(200, "", bobs)
	f(401, "key_expired", "sk-epitome-CARL")
	if time.Now().Second() > 50 {
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute))) // all in one minute
	}
	f(200, "", alices)
	f(200, "", alicesOld)
	f(429, "limit_reached", alices)
	r.wantRequests(3)
}
