package store_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"epitome/internal/fakeapi"
	"epitome/store"
)

// A call may get no answer in its time because this machine is busy. So a server that answers a ping is asked again, and
// is away for some seconds only if it answers no call. Calls wait for each other where too many come at once, and that
// they take long is said once.
func TestServerThatAnswersPingsIsNotAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late, log := errors.New("late"), &fakeapi.Log{}
		var mu sync.Mutex
		outcomes, under, most := map[string]int{}, 0, 0
		m := store.NewMonitor(store.Server{
			Name: "it", Log: slog.New(slog.NewTextHandler(log, nil)), AtOnce: 3, Long: 2 * time.Second,
			Ping: func(context.Context) error { return nil }, NoAnswer: func(err error) bool { return err == late },
			Observe: func(outcome string, _ time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				outcomes[outcome]++
			},
		})
		fails := 0
		do := func(took time.Duration) error {
			return m.Do(func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				under++
				most = max(most, under)
				mu.Unlock()
				time.Sleep(took)
				mu.Lock()
				under--
				if fails > 0 {
					fails--
					return late
				}
				return nil
			})
		}
		for n := range 3 {
			fails = n
			err := do(time.Second)
			if (err != nil) != (n == 2) || (m.State() == store.Away) != (n == 2) {
				t.Errorf("%d answers are late: %v, it %s", n, err, m.State())
			}
		}
		time.Sleep(6 * time.Second)
		if outcomes["unanswered"] != 3 || outcomes["ok"] != 2 {
			t.Errorf("%v", outcomes)
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { _ = do(3 * time.Second) })
		}
		all.Wait()
		if most != 3 || m.State() != store.Slow || strings.Count(log.String(), "is slow") != 1 {
			t.Errorf("%d at once, it %s, the log says %s", most, m.State(), log)
		}
	})
}

// A panic in a ping, which runs in the background, is no answer, and ends no process.
func TestPanicInAPingIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pings, late := 0, errors.New("late")
		m := store.NewMonitor(store.Server{Log: slog.New(slog.DiscardHandler), AtOnce: 1,
			NoAnswer: func(err error) bool { return err != nil },
			Ping: func(context.Context) error {
				pings++
				if pings < 4 {
					panic("a bug in a driver")
				}
				return nil
			}})
		err := m.Do(func(context.Context) error { return late })
		time.Sleep(time.Minute)
		if err != late || m.State() == store.Away || pings != 4 {
			t.Errorf("%v; after %d pings it %s", err, pings, m.State())
		}
	})
}
