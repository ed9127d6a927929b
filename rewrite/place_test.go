//go:build unix

package rewrite_test

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/store"
)

// gate is a store that answers no read before it opens.
type gate struct {
	store.Store
	asked atomic.Int64
	open  chan struct{}
}

func (g *gate) GetMany(keys []string) ([][]byte, error) {
	g.asked.Add(1)
	<-g.open
	return g.Store.GetMany(keys)
}

// crowd is a shaper behind a gate, for models that hold 32k tokens.
type crowd struct {
	*rewrite.Shaper
	places *rewrite.Places
	gate   *gate
	s      *storage
	list   []exchange
}

// crowded calls play in a bubble of time.
func crowded(t *testing.T, budget time.Duration, play func(t *testing.T, c *crowd)) {
	_ = memo()
	synctest.Test(t, func(t *testing.T) {
		s := newStorage()
		c := &crowd{places: rewrite.NewPlaces(2, budget), gate: &gate{Store: s.Store, open: make(chan struct{})}, s: s,
			list: hostile["results of 2 KB"](210 << 10)}
		s.Store = c.gate
		c.Shaper = c.restarted()
		play(t, c)
	})
}

func (c *crowd) restarted() *rewrite.Shaper {
	return rewrite.NewShaper(rewrite.Deps{Ledger: ledger.New(c.s, keep), Shelf: idleShelf{shelf{c.s}}, Memo: memo(),
		Window: func(_, _ string, _ int) (int, int) { return 32_000, 28_000 }})
}

// shape has a conversation of about so many KB shaped. The result comes when it is ready.
func (c *crowd) shape(client context.Context, task string, size int, change func(*rewrite.Input)) chan rewrite.Output {
	limits, list := defaultLimits(), append([]exchange{{user: task}}, c.list[:size/2]...)
	in := rewrite.Input{Dialect: dialects["chat"], Body: bodyOf("chat", list), Upstream: "up", Limits: &limits,
		Now: c.s.now, Client: client, Places: c.places}
	if change != nil {
		change(&in)
	}
	out := make(chan rewrite.Output, 1)
	go func() { out <- c.Shape(in) }()
	synctest.Wait()
	return out
}

// Promise 10. Of a burst, a few requests are shaped at once, fewer of large ones. What is small, a count and a rescue
// pass those that wait, and a client that leaves is waited for no more.
func TestBurstWaitsForPlaces(t *testing.T) {
	crowded(t, time.Hour, func(t *testing.T, c *crowd) {
		client, leave := context.WithCancel(t.Context())
		var all []chan rewrite.Output
		for i := range 20 {
			all = append(all, c.shape(t.Context(), fmt.Sprint("Task ", i), 200, nil))
		}
		if asked, shaped := c.gate.asked.Load(), c.places.InFlight(); asked != 8 || shaped != 20 {
			t.Errorf("of %d requests %d ask the store; want 8 of 20", shaped, asked)
		}
		all = append(all, c.shape(t.Context(), "small", 2, nil),
			c.shape(t.Context(), "count", 200, func(in *rewrite.Input) { in.Replay = true }),
			c.shape(t.Context(), "rescue", 200, func(in *rewrite.Input) { in.Rescue = &rewrite.Rescue{Most: 20_000} }))
		if asked := c.gate.asked.Load(); asked != 11 {
			t.Errorf("%d of the three that need not wait ask the store", asked-8)
		}
		left := c.shape(client, "left", 200, nil)
		leave()
		synctest.Wait()
		if len(left) == 0 || (<-left).Report.Items > 0 {
			t.Error("a client has left, and its request waits or was shaped")
		}
		time.Sleep(time.Second)
		close(c.gate.open)
		for _, out := range all {
			if r := (<-out).Report; r.Err != nil || r.Items == 0 {
				t.Errorf("%+v", r)
			}
		}
		if c.places.InFlight() != 0 || c.places.Waited() < 12*time.Second || c.places.Spent() != 0 {
			t.Errorf("%d are shaped, waited %v, %d spent all time", c.places.InFlight(), c.places.Waited(), c.places.Spent())
		}
	})
}

// A request whose budget of time is spent is shortened by code alone where its window is full, and goes on as it came
// where it is not. The next request has what was decided recorded.
func TestSpentBudgetIsAnOutageOfTheStore(t *testing.T) {
	crowded(t, time.Millisecond, func(t *testing.T, c *crowd) {
		var holding []chan rewrite.Output
		for i := range 8 {
			holding = append(holding, c.shape(t.Context(), fmt.Sprint("Task ", i), 200, nil))
		}
		full, fits := c.shape(t.Context(), "full", 200, nil), c.shape(t.Context(), "fits", 70, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(full) == 0 || len(fits) == 0 || c.places.Spent() != 2 {
			t.Fatalf("%d and %d are shaped, %d have spent their time", len(full), len(fits), c.places.Spent())
		}
		first := <-full
		if r := first.Report; r.Err != nil || !first.Changed || r.TokensAfter.Total() > 28_000 {
			t.Errorf("the full one: %+v", r)
		}
		if (<-fits).Changed {
			t.Error("the one that fits was changed")
		}
		close(c.gate.open)
		for _, out := range holding {
			<-out
		}
		again := <-c.shape(t.Context(), "full", 204, nil)
		c.Shaper = c.restarted()
		same := <-c.shape(t.Context(), "full", 204, nil)
		sent := first.Body[:bytes.LastIndex(first.Body, []byte("}]"))]
		if !bytes.HasPrefix(again.Body, sent) || !bytes.HasPrefix(same.Body, sent) {
			t.Error("a later request does not go on as the first began")
		}
	})
}
