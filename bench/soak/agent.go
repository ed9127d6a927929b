package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// Bounds of a conversation and of its pace.
const (
	fewestTurns, mostTurns = 24, 40
	triesWithFaults        = 6 // of a turn; behind them its script has nothing go wrong

	// mostTries of a turn outlast the rounds in which nothing can be put aside, so that nothing too long is rescued.
	mostTries = 40
	pace      = 700 * time.Millisecond // between two requests of an agent, on average

	// hangs is when something that should have happened is taken for what never will.
	hangs = 40 * time.Second
)

// agent has one conversation after the other until ctx ends. With keys, two agents hold equal conversations.
func (s *soak) agent(ctx context.Context, number int) {
	step, holder := agents, ""
	if s.server != nil {
		holder = holders[number%len(holders)]
		number, step = number/len(holders), agents/len(holders)
	}
	for ; ctx.Err() == nil; number += step {
		t := newTalk(number, s.Seed)
		t.holder = holder
		s.notes.count(begunCount)
		for last := fewestTurns + t.dice.IntN(mostTurns-fewestTurns); t.turn <= last && ctx.Err() == nil; {
			s.takeTurn(ctx, t)
		}
	}
}

// takeTurn asks until an answer has come whole, and goes on with it.
func (s *soak) takeTurn(ctx context.Context, t *talk) {
	for try := 1; ctx.Err() == nil; try++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration((0.5 + rand.Float64()) * float64(pace))):
		}
		if try > mostTries {
			s.notes.breaks(fmt.Sprintf("conversation %d: turn %d has no answer after %d tries (nothing is lost)",
				t.number, t.turn, mostTries))
			t.hear("Nothing came.")
			return
		}
		a, err := newAttempt(t, try)
		if err != nil {
			s.notes.breaks(err.Error())
			return
		}
		if s.attempt(ctx, a) {
			t.hear(a.words())
			return
		}
	}
}

// attempt sends one request, has all that came of it checked, and tells whether it was answered.
func (s *soak) attempt(ctx context.Context, a *attempt) bool {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if ctx.Err() != nil {
		return false
	}
	s.provider.expect(a)
	all := s.all()
	a.host.child = all[(a.talk.number+a.talk.turn+a.host.try)%len(all)]
	kills := a.host.countKills()
	begun, steady := a.host.steady()
	s.ask(a)
	s.provider.forget(a)
	a.underway.Wait() // each call is bounded by hangs
	after, still := a.host.steady()
	a.host.disturbed = !steady || !still || begun != after
	s.judge(a, kills)
	return a.fault == nil && a.status == http.StatusOK
}

// ask sends the request and reads the answer as the attempt's fate says.
func (s *soak) ask(a *attempt) {
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	if a.fate == leaveBefore {
		go func() {
			select {
			case <-a.arrived:
			case <-ctx.Done():
			}
			cancel()
		}()
	}
	url := a.host.url() + "/" + a.id + pathIn(a.talk.dialect)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(a.body))
	if err != nil {
		a.fault = err
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Authorization", credentialOf(a.talk))
	if a.talk.holder != "" {
		r.Header.Set(keyHeader, keyOf(a.talk.holder))
	}
	r.Header.Set(turnHeader, a.id)
	answer, err := s.client.Do(r)
	if err != nil {
		a.fault, a.left = err, a.fate == leaveBefore && errors.Is(ctx.Err(), context.Canceled)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	a.status, a.action = answer.StatusCode, answer.Header.Get("x-epitome-action")
	a.read(answer.Body, cancel)
}

// read reads the answer's body.
func (a *attempt) read(from io.Reader, leave func()) {
	if a.status != http.StatusOK || a.fate != slowClient && a.fate != leaveWithin {
		a.seen, a.fault = io.ReadAll(from)
		return
	}
	piece := make([]byte, 256)
	for a.fault == nil {
		n, err := from.Read(piece)
		a.seen = append(a.seen, piece[:n]...)
		if err == io.EOF {
			return
		}
		a.fault = err
		if a.fate == leaveWithin {
			a.left = true
			leave()
		}
		time.Sleep(10 * time.Millisecond)
	}
}
