// Package summarize is how a run of a conversation's groups becomes one text, once.
//
// It promises: of equal questions, asked at the same time or later, before a restart or after it, one is sent; the
// answer is in the store before anyone is given it, for as long as the store keeps it. An answer that is empty,
// declined, cut short, longer than what it stands for, or lacks a section is none. Whoever asks waits at most
// Config.Wait, and may leave; the job goes on up to Config.Timeout. After a failure a question is not asked again for
// a while. Jobs, waiting questions, their memory, requests per job and the size of an answer are bounded; no panic
// leaves a job; Close ends them all.
//
// A credential lives as long as the job that needs it, in memory alone. No log, event or error has a word of the
// conversation, of the credential, or of what an upstream said.
//
// Where sessions are learned from, the model that makes a summary is asked in the same request what later sessions need
// to know. Whatever it says to that, the summary is as it would be without, and has nothing of it; nobody waits for its
// being kept; what was made before teaches nothing.
//
// It does not promise that a summary is right: it is a model's. What must be right is made by code, elsewhere.
package summarize

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"epitome/event"
	"epitome/inject"
	"epitome/prose"
	"epitome/store"
)

// Why there is no prose.
var (
	// ErrBusy says that too many questions wait already.
	ErrBusy = errors.New("too many summaries are being made")

	// ErrLate says that the prose is not there yet. The job goes on.
	ErrLate = errors.New("the summary is not ready yet")

	// ErrFailed says that no model gave prose that can be used, or that none could be asked. The question is not asked
	// again for a while.
	ErrFailed = errors.New("a model gave no summary that could be used")

	// ErrClosed says that the Summariser has ended.
	ErrClosed = errors.New("no summaries are made any more")
)

// Facts keep prose; a store.Store does so, and what is said there of these methods holds here.
type Facts interface {
	Get(key string) (fact store.Fact, found bool)
	Put(key string, value []byte, keep time.Duration) (version uint64, err error)
	PutIfAbsent(key string, value []byte, keep time.Duration) (standing store.Fact, won bool, err error)
	Touch(key string, keep time.Duration) (found bool, err error)
}

// Leases say who asks a question, where several processes share Store.
type Leases interface {
	// Take returns what gives the question back, if nobody asks it. failed says then that it is not to be asked for a
	// while. Both are nil if somebody asks it, and an error says that this is not known, or that it has failed.
	Take(key string) (giveBack func(failed time.Duration), err error)
}

// Usable says how many tokens a request to a model at an upstream may have beside what is kept free for answers. It is
// asked for models that Config names: what a conversation's own model takes stands in the question. 0 is not known.
type Usable func(upstream, model string) int

// Means is what a Summariser needs.
type Means struct {
	Store Facts
	Keep  func() time.Duration // how long prose is kept from when it was used last
	Send  Sender
	// Dialects are all by their keys; that of the empty one is for upstreams other than a conversation's own.
	Dialects map[string]Dialect
	Overflow func(status int, body []byte) bool // the provider says that the request is too long
	Count    func(text string) int              // tokens
	Usable   Usable
	Leases   Leases                // who else may be asking; nil if nobody is
	Memory   func() *inject.Memory // where it is kept what sessions teach; nil, or gives nil, if nothing is learned
	Tell     func(event.Summary)   // hears what jobs do; it must not wait
	Log      *slog.Logger
}

// Summariser makes summaries. Make one with New; its methods may be called from any goroutine.
type Summariser struct {
	means   Means
	archive archive
	conf    atomic.Pointer[Config]
	life    context.Context // of all jobs
	stop    context.CancelFunc
	work    sync.WaitGroup // jobs that run

	mu       sync.Mutex // guards all below
	closed   bool
	jobs     map[string]*job // by the question's key; those that wait or run
	queue    []*job          // those that wait, the oldest first
	running  int
	busy     map[string]int // of those that run, how many ask each upstream
	prepared int            // of those that run, nobody waited for when they began
	pending  int64          // bytes of all jobs' questions
	failures failures
}

// New makes a Summariser with a configuration that Check finds nothing wrong with.
func New(c Config, m Means) *Summariser {
	s := &Summariser{
		means: m, archive: archive{facts: m.Store, keep: m.Keep, log: m.Log},
		jobs: map[string]*job{}, busy: map[string]int{}, failures: failures{},
	}
	s.life, s.stop = context.WithCancel(context.Background())
	s.Configure(c)
	return s
}

// Configure sets another configuration, for questions that come from now on.
func (s *Summariser) Configure(c Config) { s.conf.Store(&c) }

// Ready returns prose that was made before, and lets it live on. It asks nobody.
func (s *Summariser) Ready(key string) (prose.Prose, bool) {
	p, ok := s.Peek(key)
	if ok {
		s.archive.renew(key)
	}
	return p, ok
}

// Peek returns prose that was made before, and changes nothing: it lives no longer for it.
func (s *Summariser) Peek(key string) (prose.Prose, bool) {
	return s.archive.find(key)
}

// Look returns what Ready does. If there is none, pending says that it is being made.
func (s *Summariser) Look(key string) (p prose.Prose, found, pending bool) {
	pending = s.Pending(key) // first: what ends in between is found
	p, found = s.Ready(key)
	return p, found, pending && !found
}

// Pending reports whether prose is being made or waits for its turn. Whoever asks this before Ready misses nothing: a
// job puts its prose into the store before it ends.
func (s *Summariser) Pending(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[key] != nil
}

// Underway returns how many questions are being answered or wait for their turn.
func (s *Summariser) Underway() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs)
}

// Ask returns the answer to q. It waits until that is there, at most until ctx ends or Config.Wait has passed since
// somebody first waited for it; then the error is ErrLate. It is ErrBusy if after a quarter of that it is not q's
// turn yet. The job goes on.
func (s *Summariser) Ask(ctx context.Context, q prose.Question) (prose.Prose, error) {
	if p, ok := s.Ready(q.Key); ok {
		return p, nil
	}
	wait := s.conf.Load().Wait.D()
	j, err := s.join(q, true)
	if err != nil {
		return prose.Prose{}, err
	}
	late, idle := time.NewTimer(time.Until(j.since.Add(wait))), time.NewTimer(time.Until(j.since.Add(wait/4)))
	defer late.Stop()
	defer idle.Stop()
	for {
		select {
		case <-j.done:
			return j.prose, j.err
		case <-ctx.Done():
			return prose.Prose{}, fmt.Errorf("%w: %w", ErrLate, context.Cause(ctx))
		case <-late.C:
			return prose.Prose{}, ErrLate
		case <-idle.C:
		}
		select {
		case <-j.begun:
		default:
			return prose.Prose{}, ErrBusy
		}
	}
}

// Prepare has q answered in the background, for whoever asks later. If there is much to do already, nothing is done.
func (s *Summariser) Prepare(q prose.Question) {
	if _, ok := s.Ready(q.Key); !ok {
		_, _ = s.join(q, false)
	}
}

// Distils reports whether large results are told in a model's words when they are cleared.
func (s *Summariser) Distils() bool {
	conf := s.conf.Load()
	return conf.Distill && conf.Model != ""
}

// Needs returns how many tokens of usable a request needs besides the conversation that prose.Question.Continue holds:
// the instruction, and what of the answer usable leaves no room for. They are those of the model that is asked, which
// takes ratio of them for one that is counted here.
func (s *Summariser) Needs(detail string, usable int, ratio float64) int {
	d, _ := detailOf(detail)
	w := wording{detail: d, tokens: d.tokens, update: true, why: "it lacked some of the headings"}
	told := float64(s.means.Count(w.instruction())) * ratio
	return int(told) + beyondReserve(outputCap(s.conf.Load().MaxOutput, usable), usable)
}

// beyondReserve returns how many tokens of an answer's cap have no room in what every window keeps free for answers: an
// eighth of it, at least up to mostReserve.
func beyondReserve(output, usable int) int { return max(0, output-min(mostReserve, usable/7)) }

const mostReserve = 8192 // tokens

// outputCap returns the cap on an answer for a model that takes usable tokens, which is 0 if that is not known.
func outputCap(configured, usable int) int {
	if usable <= 0 {
		return configured
	}
	return min(configured, max(usable/4, leastOutput))
}

// Close ends all jobs, and returns when none runs any more or ctx ends.
func (s *Summariser) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.stop()
	for _, j := range s.queue {
		s.endLocked(j, prose.Prose{}, ErrClosed)
	}
	s.queue = nil
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("cannot end all summaries: %w", context.Cause(ctx))
	}
}
