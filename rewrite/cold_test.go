package rewrite

import (
	"strings"
	"testing"
	"time"

	"epitome/rewrite/conversation"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// rested is an agent with so many results of 1 500 tokens, whose rent does not yet pay for clearing the old ones: it
// has sent its request at noon and then done one more thing.
func rested(t *testing.T, results int) *agent {
	t.Helper()
	a := newAgent(128_000, chatMessage(conversation.System, "You are an agent."), userSays(theTask))
	a.limits.Rent, a.limits.ClearAt, a.clock = 2, .8, noon()
	for range results {
		a.work(1, 1_500)
	}
	a.send(t)
	a.work(1, 100)
	return a
}

// clears reports whether results are cleared when the agent asks after such a pause.
func (a *agent) clears(t *testing.T, pause time.Duration) bool {
	t.Helper()
	a.clock = a.clock.Add(pause)
	return strings.Contains(string(a.send(t).Body), "/data/artifacts/")
}

func TestOldResultsAreClearedWhenTheProviderHasForgottenThem(t *testing.T) {
	if a := rested(t, 25); a.clears(t, 5*time.Minute) {
		t.Error("cleared while the provider has it all cached")
	}
	a := rested(t, 25)
	if !a.clears(t, 5*time.Minute+time.Second) {
		t.Error("not cleared when a rewrite costs nothing")
	}
	sent := sentItems(t, a.send(t))
	a.work(1, 100)
	if now := sentItems(t, a.send(t)); !sameBeginning(sent, now) {
		t.Error("promise 5: the next request does not extend the one before")
	}
	f := func(name string, change func(a *agent)) {
		t.Helper()
		a := rested(t, 25)
		change(a)
		if a.clears(t, time.Hour) {
			t.Errorf("cleared %s", name)
		}
	}
	f("though no rent is ever owed", func(a *agent) { a.limits.Rent = 0 })
	f("though the cache never forgets", func(a *agent) { a.limits.CacheLife = 0 })
	f("though the cache lives longer", func(a *agent) { a.limits.CacheLife = 3 << 50 })
	f("though nobody knows the time", func(a *agent) { a.clock = time.Time{}.Add(-time.Hour) })
	f("though nobody knows when it was sent", func(a *agent) { a.restart() })
	if rested(t, 14).clears(t, time.Hour) {
		t.Error("cleared for little")
	}
}

// A machine that sleeps stops the clock that counts from its start, and a clock may be put back.
func TestPausesAreToldByTheClockOnTheWall(t *testing.T) {
	a := rested(t, 25)
	if a.clears(t, -time.Hour) {
		t.Error("cleared though the clock went back")
	}
}

// What another model is sent first is new to its provider.
func TestAnotherModelBeginsWithOldResultsCleared(t *testing.T) {
	a := rested(t, 25)
	body := strings.Replace(a.body(), `"model":"gpt-5"`, `"model":"gpt-4.1"`, 1)
	out := a.shape(body)
	judged(t, a.bench, body, out)
	if !strings.Contains(string(out.Body), "/data/artifacts/") {
		t.Error("not cleared")
	}
	if a.clears(t, time.Minute) {
		t.Error("the model that has it cached is sent another form")
	}
}

func sameBeginning(before, now []string) bool {
	if len(now) < len(before) {
		return false
	}
	for i := range before {
		if before[i] != now[i] {
			return false
		}
	}
	return true
}
