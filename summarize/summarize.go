// Package summarize has models write summaries of conversations, each of them once.
//
// Equal questions share one job, also across a restart and across processes that share a store, and an answer is stored
// before anybody gets it. A caller waits at most Limits.Wait and may leave earlier; the job goes on until
// Limits.Timeout. After a failure a model rests in that conversation for a while, and after two useless answers for
// good. Jobs, queue, memory, requests per job and the size of an answer are bounded.
//
// A credential lives in memory, as long as the job that needs it. No log, event or error has a word of a conversation,
// a credential or an upstream's answer. A model may be wrong: what must be right is written by code, elsewhere.
package summarize

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"epitome/event"
	"epitome/inject"
	"epitome/store"
	"epitome/summarize/prose"
)

// Why there is no answer.
var (
	ErrBusy   = errors.New("too many summaries are being made")
	ErrLate   = errors.New("the summary is not ready yet") // the job goes on
	ErrFailed = errors.New("a model gave no summary that could be used")
	ErrClosed = errors.New("no summaries are made any more")
)

// Deps are what a Summarizer needs of the rest of the program.
type Deps struct {
	Store    store.Store
	Keep     func() time.Duration // how long an answer is stored
	Send     Sender
	Dialects map[string]Dialect                 // by key; the one of the empty key is for Config.Upstream
	Overflow func(status int, body []byte) bool // whether a provider says that the request is too long
	Count    func(text string) int              // tokens
	Usable   func(upstream, model string) int   // tokens that a request to Config.Model may have; 0 if that is not known
	Memory   func() *inject.Memory              // of what sessions teach; nil, or returns nil, if nothing is learned
	Tell     func(event.Summary)                // hears what jobs do; it must not wait
	Log      *slog.Logger
}

// Summarizer answers questions. Its methods may be called from any goroutine.
type Summarizer struct {
	deps Deps
	life context.Context // of all jobs
	stop context.CancelFunc
	work sync.WaitGroup // jobs

	mu             sync.Mutex // guards all below
	conf           Config
	limits         Limits
	closed         bool
	jobs           map[string]*job // by key of the question
	pending        int64           // bytes of their questions
	places         *semaphore.Weighted
	preparedPlaces *semaphore.Weighted // one place is for jobs that somebody waits for
	failures       failures
}

// New returns a Summarizer with a configuration that Check accepts.
func New(c Config, d Deps) *Summarizer {
	s := &Summarizer{deps: d, jobs: map[string]*job{}, failures: failures{}}
	s.life, s.stop = context.WithCancel(context.Background())
	s.Configure(c)
	return s
}

// Configure sets the configuration for questions that come from now on.
func (s *Summarizer) Configure(c Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limits := DefaultLimits()
	if c.Limits != nil {
		limits = *c.Limits
	}
	if limits.Jobs != s.limits.Jobs { // those that run already do not count
		s.places = semaphore.NewWeighted(int64(limits.Jobs))
		s.preparedPlaces = semaphore.NewWeighted(int64(max(1, limits.Jobs-1)))
	}
	s.conf, s.limits = c, limits
}

// Look returns an answer that was made before. If there is none, pending says that it is being made.
func (s *Summarizer) Look(key string) (p prose.Prose, found, pending bool) {
	s.mu.Lock()
	pending = s.jobs[key] != nil
	s.mu.Unlock()
	p, found = s.Peek(key) // a job that has ended since has stored its answer
	return p, found, pending && !found
}

// Underway returns how many answers are being made or wait for their turn.
func (s *Summarizer) Underway() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs)
}

// Ask returns the answer to q. It waits until ctx ends or Limits.Wait has passed since somebody first waited for it:
// then the error is ErrLate and the job goes on. It is ErrBusy if the job has not begun after a quarter of that time.
func (s *Summarizer) Ask(ctx context.Context, q prose.Question) (prose.Prose, error) {
	if p, found := s.Peek(q.Key); found {
		return p, nil
	}
	j, err := s.join(q, true)
	if err != nil {
		return prose.Prose{}, err
	}
	wait := j.limits.Wait
	late, turn := time.After(time.Until(j.waited.Add(wait))), time.After(time.Until(j.waited.Add(wait/4)))
	for {
		select {
		case <-j.done:
			return j.prose, j.err
		case <-ctx.Done():
			return prose.Prose{}, fmt.Errorf("%w: %w", ErrLate, context.Cause(ctx))
		case <-late:
			return prose.Prose{}, ErrLate
		case <-turn:
			if !j.begun.Load() {
				return prose.Prose{}, ErrBusy
			}
		}
	}
}

// Prepare has q answered in the background, unless there is much to do already.
func (s *Summarizer) Prepare(q prose.Question) {
	if _, found := s.Peek(q.Key); !found {
		_, _ = s.join(q, false)
	}
}

// Needs returns how many tokens, as they are counted here, of usable a request needs beside prose.Question.Continue: for
// the instruction, as the answer fits into what every window keeps free.
func (s *Summarizer) Needs() int {
	p := prompt{Tokens: summaryTokens, Update: true, Why: "it lacked some of the headings"}
	return s.deps.Count(p.render("continue.md"))
}

// Close ends all jobs, and returns when none runs any more or ctx ends.
func (s *Summarizer) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
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
