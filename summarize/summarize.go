// Package summarize writes the summary that replaces older messages of a conversation, and their transcript.
//
// Text has a model's words, if one was asked, and what code knows for sure: the user's messages, the agent's task list,
// files written, calls and how they ended, and the agent's last words. A message of the user is in it word for word or
// not at all. No line of the conversation can pass for a heading of the summary. Text depends on its arguments alone,
// and budgets bound its size.
//
// A Summarizer asks models, each question once. Equal questions share one job, also across a restart and across
// processes that share a store, and an answer is stored before anybody gets it. A caller waits at most Limits.Wait and
// may leave earlier; the job goes on until Limits.Timeout. After Limits.Tries requests in vain, or a wait in vain, the
// model is paused: it is not asked in that conversation for pauseCompactions compactions, or for pauseTime if that ends
// first. After a wait in vain, none waits again until an answer has come in time. Jobs, memory, requests per job and the
// size of an answer are bounded.
//
// A credential lives in memory, as long as the job that needs it. No log, event or error has a word of a conversation,
// a credential or an upstream's answer. A model may be wrong: what must be right is written by code.
package summarize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/inject"
	"epitome/store"
)

// Why there is no answer.
var (
	ErrBusy   = errors.New("too many summaries are being made")
	ErrLate   = errors.New("the summary is not ready yet") // the job goes on
	ErrFailed = errors.New("the model gave no usable summary")
	ErrPaused = errors.New("the model has failed in this conversation, and is not asked for a while")
	ErrClosed = errors.New("epitome stops and makes no more summaries")
)

// Deps are what a Summarizer needs of the rest of the program.
type Deps struct {
	Store    store.Store
	Keep     time.Duration // how long an answer is stored
	Send     Sender
	Dialect  conversation.Dialect               // of Config.Upstream
	Overflow func(status int, body []byte) bool // whether a provider says that the request is too long
	Count    func(text string) int              // tokens
	Usable   func(upstream, model string) int   // as Question.Usable, of Config.Model
	Memory   *inject.Memory                     // of what sessions teach; nothing is learned while it is nil or off
	Prepares func(upstream string) bool         // whether Prepare may be used for conversations with the upstream
	Tell     func(event.Summary)                // hears what jobs do; it must not wait
	Log      *slog.Logger
}

// Summarizer answers questions. Its methods may be called from any goroutine.
type Summarizer struct {
	deps  Deps
	life  context.Context // of all jobs
	stop  context.CancelFunc
	work  sync.WaitGroup      // jobs
	slots *semaphore.Weighted // of the jobs that run

	mu       sync.Mutex // guards all below
	conf     Config
	limits   Limits
	closed   bool
	jobs     map[string]*job     // by key of the question
	pending  int64               // bytes of their questions
	failures map[string]*failure // by subject
}

// New returns a Summarizer with a configuration that Check accepts.
func New(c Config, d Deps) *Summarizer {
	s := &Summarizer{deps: d, limits: DefaultLimits(), jobs: map[string]*job{}, failures: map[string]*failure{}}
	s.Configure(c)
	s.slots = semaphore.NewWeighted(int64(s.limits.Jobs))
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// Configure sets the configuration for questions that come from now on. As many jobs run at once as before.
func (s *Summarizer) Configure(c Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conf = c
	if c.Limits != nil {
		s.limits = *c.Limits
	}
}

// Ask returns the answer to q, for a compaction. It waits until ctx ends or Limits.Wait has passed since somebody first
// waited for it: then the error is ErrLate and the job goes on. No model is asked while the store fails, as it may have the
// answer and could not take another one.
func (s *Summarizer) Ask(ctx context.Context, q Question) (Prose, error) {
	if p, found, err := s.Look(q.Key); found || err != nil {
		return p, err
	}
	j, err := s.join(q, true)
	if err != nil {
		return Prose{}, err
	}
	select {
	case <-j.done:
		return j.prose, j.err
	case <-ctx.Done():
		return Prose{}, fmt.Errorf("%w: %w", ErrLate, context.Cause(ctx))
	case <-time.After(time.Until(j.waited.Add(j.limits.Wait))):
		s.giveUp(j)
		return Prose{}, ErrLate
	}
}

// Prepares reports whether Prepare may be used for conversations with the upstream.
func (s *Summarizer) Prepares(upstream string) bool { return s.deps.Prepares(upstream) }

// Prepare has q answered in the background, unless the model rests or there is much to do already.
func (s *Summarizer) Prepare(q Question) {
	if _, found, err := s.Look(q.Key); !found && err == nil {
		_, _ = s.join(q, false)
	}
}

// Needs returns how many tokens, as they are counted here, of usable a request needs beside Question.Continue: for
// the instruction, as the answer fits into what every window keeps free.
func (s *Summarizer) Needs() int {
	s.mu.Lock()
	q := Question{Earlier: "one", Behind: 1, Focus: strings.Repeat("word ", 200), Instructions: s.conf.Instructions}
	s.mu.Unlock()
	p := newPrompt(&q, 0)
	p.Why = namesNoFile
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

// Look returns an answer that was made before. After an error it is not known whether there is one.
func (s *Summarizer) Look(key string) (p Prose, found bool, err error) {
	value, found, err := s.deps.Store.Get(keyPrefix + key)
	if err != nil {
		return Prose{}, false, fmt.Errorf("%w: cannot look for a stored one: %w", ErrFailed, err)
	}
	if !found || json.Unmarshal(value, &p) != nil || p.Text == "" {
		return Prose{}, false, nil
	}
	return p, true, nil
}

// join returns the job of a question: the one there is, or a new one if there is room. isAwaited says that the caller
// waits.
func (s *Summarizer) join(q Question, isAwaited bool) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[q.Key]
	isNew := j == nil
	if isNew {
		j = s.newJob(q, isAwaited)
	}
	f := s.failure(j)
	now := time.Now()
	switch {
	case s.closed:
		return nil, ErrClosed
	case f.isPaused(now):
		if isAwaited {
			f.compactions++
		}
		return nil, ErrPaused
	case isNew && f.tries >= j.limits.Tries: // all that it may be asked is under way
		return nil, ErrPaused
	case isNew && !s.hasRoom(j):
		return nil, ErrBusy
	}
	if isNew {
		f.tries++
		s.jobs[q.Key] = j
		s.pending += j.size
		s.work.Go(func() { s.run(j) })
	}
	if isAwaited && j.waited.IsZero() {
		j.waited = now
		if f.isLate {
			j.waited = now.Add(-j.limits.Wait) // its answer is for the compactions after this one
		}
	}
	return j, nil
}

// hasRoom reports whether there is room for a new job. A question that is larger than all may be together is taken alone.
// s.mu is held.
func (s *Summarizer) hasRoom(j *job) bool {
	if j.question.Distills && len(s.jobs) >= s.limits.Queue/2 { // the rest is for summaries, which clients wait for
		return false
	}
	return len(s.jobs) < s.limits.Jobs+s.limits.Queue && (s.pending == 0 || s.pending+j.size <= s.limits.Pending)
}

// end hands the outcome of a job to those who wait.
func (s *Summarizer) end(j *job, p Prose, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.closed {
		err = ErrClosed
	}
	s.note(j, err)
	delete(s.jobs, j.question.Key)
	s.pending -= j.size
	j.prose, j.err = p, err
	close(j.done)
}
