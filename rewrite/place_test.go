//go:build unix

package rewrite_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/store"
	"epitome/summarize"
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

// thinker is a model that answers no question before it is told to.
type thinker struct {
	answerer
	asked atomic.Int64
	says  chan struct{}
}

func (m *thinker) Ask(context.Context, summarize.Question) (summarize.Prose, error) {
	m.asked.Add(1)
	<-m.says
	return summarize.Prose{Text: "## Goal\nMend it."}, nil
}

// reader is a dialect that counts the bodies that are read.
type reader struct {
	conversation.Dialect
	bodies atomic.Int64
}

func (r *reader) ReadEntry(of *conversation.Request, o *jsonspan.Object) error {
	if len(of.Items) == 0 {
		r.bodies.Add(1)
	}
	return r.Dialect.ReadEntry(of, o)
}

// shaped has a conversation of so many KB shaped, for a model that holds 32k tokens. The result comes when it is ready.
type shaped func(client context.Context, task string, size int, how rewrite.Input) chan rewrite.Output

// crowded calls play in a bubble of time, with a shaper behind the gate.
func crowded(t *testing.T, budget time.Duration, play func(*testing.T, *gate, *thinker, *rewrite.Places, shaped)) {
	_ = memo()
	synctest.Test(t, func(t *testing.T) {
		s, limits, list := newStorage(), defaultLimits(), hostile["results of 2 KB"](210<<10)
		g, places := &gate{Store: s.Store, open: make(chan struct{})}, rewrite.NewPlaces(2, budget)
		model := &thinker{says: make(chan struct{})}
		s.Store = g
		shaper := rewrite.NewShaper(rewrite.Deps{Ledger: ledger.New(s, keep), Shelf: idleShelf{shelf{s}}, Memo: memo(),
			Summarizer: model, Window: func(_, _ string, _ int) (int, int) { return 32_000, 28_000 }})
		play(t, g, model, places, func(client context.Context, task string, size int, in rewrite.Input) chan rewrite.Output {
			in.Body = bodyOf("chat", append([]exchange{{user: task}}, list[:size/2]...))
			in.Dialect, in.Upstream, in.Limits, in.Now = cmp.Or[conversation.Dialect](in.Dialect, dialects["chat"]),
				"up", &limits, s.now
			in.Client, in.Places, in.Credential = client, places, func() any { return nil }
			out := make(chan rewrite.Output, 1)
			go func() { out <- shaper.Shape(in) }()
			synctest.Wait()
			return out
		})
	})
}

// Promise 10. Of a burst, a few requests are shaped at once. The others are not read yet, even if they begin as one that
// is known does. What is small, a count and a rescue pass those that wait, and a client that leaves is waited for no
// more.
func TestBurstWaitsForPlaces(t *testing.T) {
	crowded(t, time.Hour, func(t *testing.T, g *gate, _ *thinker, places *rewrite.Places, shape shaped) {
		r, alike := &reader{Dialect: dialects["chat"]}, strings.Repeat("All tasks begin alike. ", 20)
		known := shape(t.Context(), alike, 2, rewrite.Input{Dialect: r})
		g.open <- struct{}{}
		<-known
		g.asked.Store(0)
		r.bodies.Store(0)
		var all []chan rewrite.Output
		for i := range 20 {
			all = append(all, shape(t.Context(), alike+fmt.Sprint(i), 200, rewrite.Input{Dialect: r}))
		}
		asked, read := g.asked.Load(), r.bodies.Load()
		if shaped := places.InFlight.Load(); asked != 8 || read != 8 || shaped != 20 {
			t.Errorf("of %d requests %d are read, and %d ask the store; want 8 of 20", shaped, read, asked)
		}
		all = append(all, shape(t.Context(), "small", 2, rewrite.Input{}),
			shape(t.Context(), "count", 200, rewrite.Input{Replay: true}),
			shape(t.Context(), "refused", 200, rewrite.Input{Rescue: &rewrite.Rescue{Most: 20_000}}))
		if asked := g.asked.Load(); asked != 11 {
			t.Errorf("%d of the three that need not wait ask the store", asked-8)
		}
		client, leave := context.WithCancel(t.Context())
		left := shape(client, "left", 200, rewrite.Input{})
		leave()
		synctest.Wait()
		if len(left) == 0 || (<-left).Report.Items > 0 {
			t.Error("a client has left, and its request waits or was shaped")
		}
		time.Sleep(time.Second)
		close(g.open)
		for _, out := range all {
			if r := (<-out).Report; r.Err != nil || r.Items == 0 {
				t.Errorf("%+v", r)
			}
		}
		if places.InFlight.Load() != 0 || places.Waited.Load() < int64(12*time.Second) || places.Spent.Load() != 0 {
			t.Errorf("%d are shaped, waited %d ns, %d spent it all", places.InFlight.Load(), places.Waited.Load(),
				places.Spent.Load())
		}
	})
}

// Promise 10. A burst of one client does not hold up another one: clients get places in turn.
func TestClientsGetPlacesInTurn(t *testing.T) {
	crowded(t, time.Hour, func(t *testing.T, g *gate, _ *thinker, _ *rewrite.Places, shape shaped) {
		var burst []chan rewrite.Output
		for i := range 20 {
			burst = append(burst, shape(t.Context(), fmt.Sprint("Task ", i), 200, rewrite.Input{Turn: "burst"}))
		}
		other := &reader{Dialect: dialects["chat"]}
		shape(t.Context(), "Another task", 200, rewrite.Input{Dialect: other, Turn: "other"})
		for other.bodies.Load() == 0 {
			g.open <- struct{}{}
			synctest.Wait()
		}
		ready := 0
		for _, out := range burst {
			ready += len(out)
		}
		if ready != 2 { // of the 8 that had places; the first of the 12 others has the place of one of them
			t.Errorf("another client's request has a place once %d of a burst of 20 have given theirs back, want 2", ready)
		}
		close(g.open)
	})
}

// A request that waits for a model's summary is in no other's way.
func TestWaitForAModelHoldsNoPlace(t *testing.T) {
	crowded(t, time.Minute, func(t *testing.T, g *gate, model *thinker, places *rewrite.Places, shape shaped) {
		close(g.open)
		var all []chan rewrite.Output
		for i := range 20 {
			all = append(all, shape(t.Context(), fmt.Sprint("Task ", i), 200, rewrite.Input{Compact: true}))
		}
		if asked := model.asked.Load(); asked != 20 {
			t.Errorf("of 20 requests %d ask the model", asked)
		}
		time.Sleep(time.Hour)
		close(model.says)
		for _, out := range all {
			if r := (<-out).Report; r.Action != "compact" || places.Spent.Load() > 0 {
				t.Errorf("%d have spent their time; %+v", places.Spent.Load(), r)
			}
		}
	})
}

// A request whose budget of time is spent is shortened by code alone where its window is full, and goes on as it came
// where it is not. The next one has what was decided recorded.
func TestSpentBudgetIsAnOutageOfTheStore(t *testing.T) {
	crowded(t, time.Millisecond, func(t *testing.T, g *gate, _ *thinker, places *rewrite.Places, shape shaped) {
		for i := range 8 {
			shape(t.Context(), fmt.Sprint("Task ", i), 200, rewrite.Input{})
		}
		full, fits := shape(t.Context(), "full", 200, rewrite.Input{}), shape(t.Context(), "fits", 70, rewrite.Input{})
		time.Sleep(time.Second)
		first, other := <-full, <-fits
		if r := first.Report; r.Err != nil || r.TokensAfter.Total() > 28_000 || other.Changed || places.Spent.Load() != 2 {
			t.Errorf("%d have spent their time; the full one: %+v; the other was changed: %v", places.Spent.Load(), r,
				other.Changed)
		}
		close(g.open)
		sent := first.Body[:bytes.LastIndex(first.Body, []byte("}]"))]
		for range 2 {
			again := <-shape(t.Context(), "full", 204, rewrite.Input{})
			isRecorded := first.Report.Decision == "" && again.Report.Decision != ""
			if !isRecorded || !bytes.HasPrefix(again.Body, sent) {
				t.Errorf("a later request is recorded: %v; or does not go on as the first began", isRecorded)
			}
		}
	})
}
