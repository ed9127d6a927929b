package team

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"epitome/bench/lineup"
	"epitome/bench/report"
)

// agents ask at the same time; each has a conversation of its own, and asks another epitome with each turn.
const agents = 16

// roundsAtOnce is how often each number of epitomes has its turn.
const roundsAtOnce = 3

// throughputs measures how many turns one, two and four epitomes take over one store, and what that costs the store.
func (b *bench) throughputs(ctx context.Context) error {
	var lanes []*lineup.Lane
	defer func() {
		for _, lane := range lanes {
			lane.Stop()
		}
	}()
	for range 4 {
		home, err := b.home()
		if err != nil {
			return err
		}
		lane, err := b.start(ctx, home, b.server.Addr)
		if err != nil {
			return err
		}
		lanes = append(lanes, lane)
	}
	counts := []int{1, 2, 4}
	rows := make([]Throughput, len(counts))
	first := 2 * warmTalks
	for range roundsAtOnce {
		for i, n := range counts {
			b.say("%d agents ask %d epitomes over one store", agents, n)
			if err := b.atOnce(lanes[:n], first, &rows[i]); err != nil {
				return err
			}
			first += agents * warmTalks
		}
	}
	for i := range rows {
		rows[i].settle()
	}
	b.report.Throughput = rows
	return nil
}

// atOnce adds what the agents get in one turn. Conversations have numbers from first on.
func (b *bench) atOnce(lanes []*lineup.Lane, first int, row *Throughput) error {
	row.Epitomes = len(lanes)
	before, unread := lineup.CPUTime(b.server.PID())
	began := time.Now()
	end := began.Add(b.Turn)
	var answered atomic.Int64
	errs := make([]error, agents)
	var working sync.WaitGroup
	for i := range agents {
		working.Go(func() { errs[i] = work(lanes, first+i*warmTalks, end, &answered) })
	}
	working.Wait()
	took := time.Since(began)
	row.answered += answered.Load()
	row.took += took
	if after, err := lineup.CPUTime(b.server.PID()); err == nil && unread == nil {
		row.store += after - before
	}
	return errors.Join(errs...)
}

// work has one agent ask until the time is over.
func work(lanes []*lineup.Lane, number int, end time.Time, answered *atomic.Int64) error {
	clients := make([]*client, len(lanes))
	for i, lane := range lanes {
		var err error
		if clients[i], err = dial(lane); err != nil {
			return err
		}
		defer clients[i].close()
	}
	for turn := 1; time.Now().Before(end); turn++ {
		if turn > turnsOfTalk {
			number, turn = number+1, 1
		}
		if err := clients[turn%len(clients)].ask(number, turn); err != nil {
			return err
		}
		answered.Add(1)
	}
	return nil
}

// settle makes figures of what was added.
func (t *Throughput) settle() {
	if t.took <= 0 {
		return
	}
	t.PerSecond = float64(t.answered) / t.took.Seconds()
	if t.store > 0 {
		t.StoreCore = report.Ratio(100*t.store.Seconds(), t.took.Seconds())
	}
}
