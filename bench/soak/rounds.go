package soak

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// turmoil is what goes wrong with epitome itself in a round, while its clients go on asking.
type turmoil struct {
	name string
	play func(s *soak, ctx context.Context) error
}

var (
	calm    = turmoil{"nothing beyond what clients and upstream do", func(s *soak, ctx context.Context) error { return s.calm(ctx) }}
	reload  = turmoil{"another configuration is read (SIGHUP)", (*soak).reload}
	restart = turmoil{"stopped (SIGTERM) and started again", func(s *soak, ctx context.Context) error { return s.again(ctx, false) }}
	killed  = turmoil{"killed (SIGKILL) and started again", func(s *soak, ctx context.Context) error { return s.again(ctx, true) }}
	full    = turmoil{"no room on the disk", (*soak).full}
	used    = turmoil{"the quota of artifacts is used up", (*soak).used}

	storeKilled = turmoil{"the shared store is killed (SIGKILL) and started again", killStore}
	storeStops  = turmoil{"the shared store stands still (SIGSTOP) for some seconds", stopStore}
)

// Rounds in which the process ends stand at both ends of a run, so that one process lives long between them and shows
// whether it grows.
var (
	firstRounds = []*turmoil{&calm, &reload, &restart, &killed, &full, &used, &restart}
	lastRounds  = []*turmoil{&killed, &restart, &calm}
	between     = []*turmoil{&calm, &reload, &full, &calm}
)

// teamRounds are those of several epitomes, over and over: one of them or their store ends at a random moment.
var teamRounds = []*turmoil{&calm, &killed, &storeKilled, &killed, &restart, &storeStops, &killed, &reload}

// roundAt is round i of so many.
func roundAt(i, of int) *turmoil {
	if i < len(firstRounds) {
		return firstRounds[i]
	}
	if left := of - i; left <= len(lastRounds) {
		return lastRounds[len(lastRounds)-left]
	}
	return between[(i-len(firstRounds))%len(between)]
}

func (s *soak) calm(ctx context.Context) error {
	s.pass(ctx, round)
	return nil
}

func (s *soak) reload(ctx context.Context) error {
	s.pass(ctx, round/2)
	var err error
	for _, c := range s.all() {
		err = errors.Join(err, c.reload())
	}
	s.pass(ctx, round/2)
	return err
}

// again ends the process and starts it again amid the traffic.
func (s *soak) again(ctx context.Context, kill bool) error {
	before := beforeIn(s)
	s.pass(ctx, before)
	c := s.child
	if all := s.all(); len(all) > 1 { // figures are of one that lives long
		c = s.others[rand.IntN(len(s.others))]
	} else {
		s.addCPU()
	}
	err := c.again(ctx, kill)
	s.pass(ctx, round-before)
	return err
}

// beforeIn is how much of a round goes by before something happens: in a team it comes at any moment.
func beforeIn(s *soak) time.Duration {
	if s.server == nil {
		return round / 2
	}
	return round/8 + rand.N(round/2)
}

// killStore ends the server of the shared store with no word, and starts it again a moment later.
func killStore(s *soak, ctx context.Context) error {
	before := beforeIn(s)
	s.pass(ctx, before)
	s.server.Kill()
	s.pass(ctx, round/8)
	err := s.server.Run()
	s.pass(ctx, round-before-round/8)
	return err
}

// stopStore has the server stand still for a while, so that nothing is answered.
func stopStore(s *soak, ctx context.Context) error {
	before := beforeIn(s)
	s.pass(ctx, before)
	if err := s.server.Stand(true); err != nil {
		s.skipped = append(s.skipped, err.Error())
	}
	s.pass(ctx, round/4)
	_ = s.server.Stand(false)
	s.pass(ctx, round-before-round/4)
	return nil
}

// fullAt is the size in bytes beyond which no file may grow while the disk is full.
const fullAt = 512

func (s *soak) full(ctx context.Context) error {
	s.pass(ctx, round/4)
	if err := fill(s.child.pid(), fullAt); err != nil {
		s.skipped = append(s.skipped, err.Error())
		s.pass(ctx, 3*round/4)
		return nil
	}
	s.pass(ctx, round/2)
	if err := fill(s.child.pid(), 0); err != nil {
		return err
	}
	s.pass(ctx, round/4)
	return nil
}

// used starts with a quota that is less than what is there, until the next start.
func (s *soak) used(ctx context.Context) error {
	s.child.limit("1KB")
	err := s.again(ctx, false)
	s.child.limit(wideQuota)
	return err
}
