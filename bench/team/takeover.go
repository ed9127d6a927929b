package team

import (
	"context"
	"time"

	"epitome/bench/lineup"
	"epitome/bench/report"
)

// A conversation is taken over in this turn; what was decided before stands in the store.
const (
	takenOverAt = 40
	knownFrom   = 30 // the turns that the epitome before has seen
)

// relayDelay is what a relay holds back, in each direction.
const relayDelay = 500 * time.Microsecond

// takeOvers measures the turn in which an epitome sees a conversation for the first time, of which all is recorded:
// over a store that is a millisecond away, and as a process that was started again over a store of its own.
func (b *bench) takeOvers(ctx context.Context) error {
	b.say("%d conversations are taken over in turn %d", b.Talks, takenOverAt)
	far, err := startRelay(b.server.Addr, relayDelay)
	if err != nil {
		return err
	}
	defer far.close()
	trips, err := roundTrips(far.addr(), 20+b.Talks)
	if err != nil {
		return err
	}
	b.report.TripUS = report.Median(microseconds(trips))
	shared, err := b.successor(ctx, far.addr())
	if err != nil {
		return err
	}
	defer shared.Stop()
	own, err := b.successor(ctx, "")
	if err != nil {
		return err
	}
	defer own.Stop()
	return b.compareTakeOvers(ctx, shared, own)
}

// successor is an epitome over a store with all that another one has decided. That one is gone.
func (b *bench) successor(ctx context.Context, store string) (*lineup.Lane, error) {
	home, err := b.home()
	if err != nil {
		return nil, err
	}
	before, err := b.start(ctx, home, store)
	if err != nil {
		return nil, err
	}
	err = b.playAhead(before)
	before.Stop()
	if err != nil {
		return nil, err
	}
	if store != "" { // another machine, with nothing but the store
		if home, err = b.home(); err != nil {
			return nil, err
		}
	}
	return b.start(ctx, home, store)
}

// playAhead asks for what comes before conversations are taken over.
func (b *bench) playAhead(lane *lineup.Lane) error {
	c, err := dial(lane)
	if err != nil {
		return err
	}
	defer c.close()
	for number := range b.Talks {
		for turn := knownFrom; turn < takenOverAt; turn++ {
			if err := c.ask(number, turn); err != nil {
				return err
			}
		}
	}
	return nil
}

// questions counts what an epitome asks its shared store.
const questions = "epitome_shared_store_questions_total"

// warmTalks are conversations that are no other's: what a process reads once, as vocabularies, is read with them.
const warmTalks = 1_000_000

func (b *bench) compareTakeOvers(ctx context.Context, shared, own *lineup.Lane) error {
	clients, took := make([]*client, 2), make([][]float64, 2)
	for i, lane := range []*lineup.Lane{shared, own} {
		var err error
		if clients[i], err = dial(lane); err != nil {
			return err
		}
		defer clients[i].close()
		for turn := range 5 {
			if err = clients[i].ask(warmTalks, turn+1); err != nil {
				return err
			}
		}
	}
	asked, err := metric(ctx, clients[0], questions)
	if err != nil {
		return err
	}
	for number := range b.Talks {
		for k := range clients {
			i := (number + k) % len(clients)
			prepared := clients[i].prepare(number, takenOverAt)
			began := time.Now()
			if err := clients[i].send(prepared); err != nil {
				return err
			}
			took[i] = append(took[i], report.Microseconds(time.Since(began)))
		}
	}
	all, err := metric(ctx, clients[0], questions)
	if err != nil {
		return err
	}
	b.report.Questions = (all - asked) / float64(b.Talks)
	b.report.TakeOver = Compared{Shared: report.Median(took[0]), Own: report.Median(took[1]),
		Added: report.Median(report.Differences(took[0], took[1])), Samples: b.Talks}
	return nil
}

func microseconds(all []time.Duration) []float64 {
	out := make([]float64, len(all))
	for i, d := range all {
		out[i] = report.Microseconds(d)
	}
	return out
}
