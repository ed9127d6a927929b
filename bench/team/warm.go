package team

import (
	"context"
	"time"

	"epitome/bench/lineup"
	"epitome/bench/report"
)

// turnsOfTalk is how long a conversation is that one epitome sees from its first turn on.
const turnsOfTalk = 40

// side is an epitome with or without a shared store.
type side struct {
	lane *lineup.Lane
	*client
	took []float64     // µs of each turn
	used time.Duration // CPU of its process
}

// warmTurns measures conversations that one epitome sees from the beginning: each in turn with a store of its own and
// with a shared one, which is near.
func (b *bench) warmTurns(ctx context.Context) error {
	b.say("%d conversations of %d turns, with and without a shared store", b.Rounds, turnsOfTalk)
	sides := make([]*side, 2)
	for i, store := range []string{b.server.Addr, ""} {
		s, err := b.side(ctx, store)
		if err != nil {
			return err
		}
		defer s.lane.Stop()
		defer s.close()
		sides[i] = s
	}
	for round := range b.Rounds {
		for k := range sides {
			if err := sides[(round+k)%2].play(warmTalks + 1 + round); err != nil {
				return err
			}
		}
	}
	shared, own := sides[0], sides[1]
	n := b.Rounds * turnsOfTalk
	b.report.Warm = Compared{Shared: report.Median(shared.took), Own: report.Median(own.took),
		Added: report.Median(report.Differences(shared.took, own.took)), Samples: n}
	if shared.used > 0 && own.used > 0 {
		b.report.CPU = &Compared{Shared: report.Microseconds(shared.used) / float64(n),
			Own: report.Microseconds(own.used) / float64(n), Samples: n}
	}
	return nil
}

// side starts an epitome and has it read what it reads once.
func (b *bench) side(ctx context.Context, store string) (*side, error) {
	home, err := b.home()
	if err != nil {
		return nil, err
	}
	s := &side{}
	if s.lane, err = b.start(ctx, home, store); err != nil {
		return nil, err
	}
	if s.client, err = dial(s.lane); err == nil {
		err = s.play(warmTalks)
	}
	s.took, s.used = nil, 0
	if err != nil {
		s.lane.Stop()
		return nil, err
	}
	return s, nil
}

// play asks for one conversation, turn by turn.
func (s *side) play(number int) error {
	before, _ := lineup.CPUTime(s.lane.PID()) // where it cannot be read, both are 0
	for turn := 1; turn <= turnsOfTalk; turn++ {
		prepared := s.prepare(number, turn)
		began := time.Now()
		if err := s.send(prepared); err != nil {
			return err
		}
		s.took = append(s.took, report.Microseconds(time.Since(began)))
	}
	after, _ := lineup.CPUTime(s.lane.PID())
	s.used += after - before
	return nil
}
