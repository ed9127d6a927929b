// Package soak runs an epitome for as long as somebody wants, has things go wrong, and holds what it recorded to the
// promises.
//
// Agents of all dialects talk through a real epitome, a process of its own with a folder of its own, to an upstream
// that plays a script; all of it is on loopback. Windows are small, so that results are put aside and cleared, old
// turns summarised, and requests rescued. Clients leave or are slow, answers are cut, slow or refusals, and epitome is
// stopped, killed, told to read another configuration, and has no room on its disk.
//
// It promises that it ends only the process that it started; that every wait is bounded; that equal seeds make equal
// conversations; and that what it calls broken was seen on the wire or in files: it shares no code with what it
// watches. It asserts no time. What a machine cannot play is told, never guessed.
package soak

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"epitome/bench/lineup"
	"epitome/bench/redis"
	"epitome/bench/report"
)

// Options say how long to run, and what.
type Options struct {
	Program  string // the epitome to run
	Minutes  float64
	Seed     uint64
	Replicas int // epitomes that share a store, behind a balancer that does not stick; 0 or 1: one by itself
	Progress io.Writer
}

// The shape of a run.
const (
	agents      = 12
	round       = 10 * time.Second
	sampleEvery = 2 * time.Second
)

// crew are the epitomes that run.
type crew struct {
	child  *child        // of which figures are taken
	others []*child      // that share a store with it
	server *redis.Server // of that store; nil if there is none
}

// soak is one run.
type soak struct {
	Options
	notes    *record
	provider *provider
	crew
	told     *told
	client   *http.Client
	gate     sync.RWMutex  // held for writing where no request may be under way
	patience time.Duration // how long an event may take to be heard of

	samples []sample
	cpu     time.Duration // of the processes that have ended
	skipped []string

	shelf sync.Map // contents of artifacts by name, until the next quiet point
}

// Run runs until the minutes are over or ctx ends.
func Run(ctx context.Context, o Options) (*Report, error) {
	folder, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return nil, fmt.Errorf("cannot begin: %w", err)
	}
	kept := false
	defer func() {
		if !kept {
			_ = os.RemoveAll(folder)
		}
	}()
	s := &soak{Options: o, notes: &record{progress: o.Progress},
		told: newTold(), client: newClient(), patience: hangs / 4}
	if s.provider, err = startProvider(s.notes); err != nil {
		return nil, err
	}
	defer s.provider.close()
	defer s.stop()
	if err := s.start(ctx, folder); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	r := s.report(time.Since(began))
	if kept = len(r.Broken) > 0; kept {
		r.Kept = folder
	}
	return r, nil
}

// start starts the epitome that is watched, or all that share a store, and the store.
func (s *soak) start(ctx context.Context, folder string) (err error) {
	if s.Replicas > 1 {
		if s.server, err = redis.Start(folder); err != nil {
			return err
		}
	}
	for i := range max(s.Replicas, 1) {
		c := &child{program: s.Program, folder: filepath.Join(folder, fmt.Sprint("epitome-", i+1)), upstream: s.provider.url,
			quota: wideQuota}
		if s.server != nil {
			c.store, c.common = s.server.URL(), filepath.Join(folder, "common")
		}
		if c.addr, err = lineup.FreeAddress(); err != nil {
			return err
		}
		if err = os.MkdirAll(c.folder, 0o700); err != nil {
			return fmt.Errorf("cannot begin: %w", err)
		}
		if err = c.start(ctx); err != nil {
			return err
		}
		if i == 0 {
			s.child = c
		} else {
			s.others = append(s.others, c)
		}
	}
	return nil
}

// stop ends all that was started.
func (s *crew) stop() {
	for _, c := range s.all() {
		c.stop()
	}
	if s.server != nil {
		s.server.Kill()
	}
}

// all are the epitomes that run.
func (s *crew) all() []*child {
	if s.child == nil {
		return nil
	}
	return append([]*child{s.child}, s.others...)
}

// newClient is what agents ask with: it changes nothing of what they send and get.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: agents}}
}

// run has agents work while one round after the other goes by.
func (s *soak) run(ctx context.Context) (err error) {
	working, leave := context.WithCancel(ctx)
	var all sync.WaitGroup
	for i := range agents {
		all.Go(func() { s.agent(working, i) })
	}
	for _, c := range s.all() {
		all.Go(func() { s.told.watch(working, c.url()) })
	}
	rounds := max(len(firstRounds)+len(lastRounds), int(s.Minutes*float64(time.Minute/round)))
	for i := 0; i < rounds && ctx.Err() == nil; i++ {
		r := roundAt(i, rounds)
		if s.server != nil {
			r = teamRounds[i%len(teamRounds)]
		}
		fmt.Fprintf(s.Progress, "bench: round %d of %d: %s\n", i+1, rounds, r.name)
		s.notes.count("round: " + r.name)
		err = r.play(s, ctx)
		if words, ended := s.hasEnded(); ended {
			s.notes.breaks(fmt.Sprintf("epitome has ended by itself, or does not start again: %v%s", err, words))
			err = nil
			break
		}
		if err != nil {
			break
		}
		s.checkQuiet()
	}
	leave()
	all.Wait()
	return err
}

// hasEnded tells whether an epitome has ended by itself, and what it wrote last.
func (s *crew) hasEnded() (words string, ended bool) {
	for _, c := range s.all() {
		if words, ended = c.hasEnded(); ended {
			return words, true
		}
	}
	return "", false
}

// pass lets time go by, with a sample now and again. It returns early where ctx ends.
func (s *soak) pass(ctx context.Context, d time.Duration) {
	end := time.After(d)
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end:
			return
		case <-tick.C:
			s.samples = append(s.samples, s.look())
		}
	}
}

// checkQuiet waits until no request is under way, and looks at what has to hold then.
func (s *soak) checkQuiet() {
	s.gate.Lock()
	defer s.gate.Unlock()
	for _, c := range s.all() {
		checkIdle(s, c)
		s.notes.breaks(complaints(c.log())...)
	}
	s.told.forget()
	s.shelf.Clear()
}

// checkIdle waits until an epitome that nobody asks has nothing in flight.
func checkIdle(s *soak, c *child) {
	for late := time.Now().Add(hangs); ; time.Sleep(20 * time.Millisecond) {
		n, ok := c.metric("epitome_exchanges_in_flight")
		if ok && n == 0 {
			return
		}
		if time.Now().After(late) {
			s.notes.breaks(fmt.Sprintf("nobody asks, and epitome has %.0f exchanges in flight, known: %t (promise 10)", n, ok))
			return
		}
	}
}

// artifact reads what an artifact has, empty if it is not there.
func (s *soak) artifact(name string) string {
	if content, ok := s.shelf.Load(name); ok {
		return content.(string)
	}
	content, _ := os.ReadFile(filepath.Join(s.child.shelf(), name+".txt"))
	s.shelf.Store(name, string(content))
	return string(content)
}

// report puts together what is known.
func (s *soak) report(took time.Duration) *Report {
	r := &Report{Machine: report.ThisMachine(), Seed: s.Seed, Minutes: took.Minutes(), Skipped: s.skipped,
		Counts: s.notes.counts, More: s.notes.more}
	r.Skipped = append(r.Skipped, "a clock that jumps: the program takes the machine's own and can be given no other")
	table, grown := settleFigures(s.samples)
	r.Figures, r.Broken = table, append(append(s.notes.broken, grown...), unplayed(r.Counts)...)
	s.addCPU()
	r.CPU = []Spent{{"epitome, all its processes", s.cpu.Seconds()}}
	if own, err := lineup.CPUTime(os.Getpid()); err == nil {
		r.CPU = append(r.CPU, Spent{"agents, upstream and checks", own.Seconds()})
	}
	return r
}

// unplayed are the rungs that nothing reached: what was seen shows nothing of them.
func unplayed(counts map[string]int) (missing []string) {
	for _, rung := range [...]string{"none", "offload", "clear", "compact", "rescue"} {
		if counts[rungCount+rung] == 0 {
			missing = append(missing, fmt.Sprintf("no request had the action %s: nothing is shown of it", rung))
		}
	}
	if counts[keptCount] == 0 {
		missing = append(missing, "no request had a model's summary: nothing is shown of what is written for whom")
	}
	return missing
}

// addCPU adds what the process has spent, before it ends.
func (s *soak) addCPU() {
	if spent, err := lineup.CPUTime(s.child.pid()); err == nil {
		s.cpu += spent
	}
}
