package soak

import (
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
)

// fate is what goes wrong with an attempt, by the script.
type fate int

// The fates.
const (
	plain       fate = iota
	slowStream       // the upstream pauses between the pieces of its answer
	slowClient       // the client pauses between what it reads
	cut              // the upstream breaks off within its answer
	leaveBefore      // the client leaves before the answer begins
	leaveWithin      // the client leaves within the answer
	limited          // 429
	failed           // 500
	fates
)

func (f fate) String() string {
	return [...]string{"plain", "slow upstream", "slow client", "cut by the upstream", "client left before the answer",
		"client left within the answer", "refused with 429", "refused with 500"}[f]
}

// attempt is one request of a client and all that came of it. What the upstream notes is guarded; the rest is the
// client's until both have ended.
type attempt struct {
	id      string // conversation-turn-try-holder: stands in the request's path
	talk    *talk
	stream  bool
	fate    fate
	body    []byte // as the client sent it
	arrived chan struct{}

	mu       sync.Mutex // guards what follows
	arrivals []*arrival
	underway sync.WaitGroup // answers that the upstream is sending

	status int    // 0: no answer began
	action string // what epitome says that it has done
	seen   []byte // the answer's body
	fault  error  // why it is not whole
	left   bool   // the client has left by itself
	host   host
}

// host is who is asked, and at which try of the turn.
type host struct {
	*child
	try       int
	disturbed bool // it was started or ended meanwhile
}

// arrival is one request that reached the upstream for an attempt.
type arrival struct {
	body   []byte
	status int
	said   []byte // of the answer's body, what was written
	whole  bool   // the answer was written to its end
}

func newAttempt(t *talk, try int) (*attempt, error) {
	a := &attempt{id: fmt.Sprintf("%d-%d-%d-%s", t.number, t.turn, try, t.holder), talk: t, host: host{try: try},
		arrived: make(chan struct{}, 8)}
	dice := rand.New(rand.NewPCG(t.seed, uint64(t.number)<<32|uint64(t.turn)<<16|uint64(try)))
	a.stream = dice.IntN(3) > 0
	if dice.IntN(4) == 0 && try <= triesWithFaults {
		a.fate = fate(dice.IntN(int(fates)))
	}
	if a.fate == leaveWithin {
		a.stream = true
	}
	var err error
	a.body, err = t.body(a.stream)
	return a, err
}

// words is what the model says to this turn.
func (a *attempt) words() string {
	return "The sacks of " + a.talk.mark() + " are weighed, and the seed lies apart: none is missing in the loft."
}

// arrive notes a request that has reached the upstream.
func (a *attempt) arrive(body []byte) *arrival {
	n := &arrival{body: body}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arrivals = append(a.arrivals, n)
	a.underway.Add(1)
	select {
	case a.arrived <- struct{}{}:
	default:
	}
	return n
}

// newest is what reached the upstream last, nil if nothing did.
func (a *attempt) newest() *arrival {
	if len(a.arrivals) == 0 {
		return nil
	}
	return a.arrivals[len(a.arrivals)-1]
}

// record counts what happened, by its name.
type record struct {
	progress io.Writer // hears of each broken promise at once

	mu     sync.Mutex
	counts map[string]int
	broken []string
	more   int // broken promises beyond mostBroken
}

// mostBroken bounds how many broken promises are told one by one.
const mostBroken = 100

func (t *record) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[what]++
}

// begunCount counts conversations.
const begunCount = "conversations"

// times is how often something happened so far.
func (t *record) times(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[what]
}

// breaks notes broken promises.
func (t *record) breaks(all ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range all {
		fmt.Fprintln(t.progress, "bench: broken:", b)
		if len(t.broken) == mostBroken {
			t.more++
			continue
		}
		t.broken = append(t.broken, b)
	}
}
