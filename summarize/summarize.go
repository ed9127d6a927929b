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
// model rests: it is not asked in that conversation for restCompactions compactions, or for restTime if that ends first.
// After a wait in vain, none waits again until an answer has come in time. Jobs, memory, requests per job and the size
// of an answer are bounded.
//
// A credential lives in memory, as long as the job that needs it. No log, event or error has a word of a conversation,
// a credential or an upstream's answer. A model may be wrong: what must be right is written by code.
package summarize

import (
	"cmp"
	"context"
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
	ErrRests  = errors.New("the model has failed in this conversation, and is not asked for a while")
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
	deps   Deps
	life   context.Context // of all jobs
	stop   context.CancelFunc
	work   sync.WaitGroup      // jobs
	places *semaphore.Weighted // of the jobs that run

	mu       sync.Mutex // guards all below
	conf     Config
	limits   Limits
	closed   bool
	jobs     map[string]*job     // by key of the question
	pending  int64               // bytes of their questions
	failures map[string]*failure // by subject
}

// A model that rests is asked again after so many compactions, or after so long.
const (
	restCompactions = 5
	restTime        = time.Hour
)

// failure is how a model has failed in a conversation since it last answered in time.
type failure struct {
	vain        int       // requests in vain since it last rested, with those under way
	late        bool      // a caller has waited in vain
	until       time.Time // the end of its rest
	compactions int       // since the rest began
	notBefore   time.Time // until then the upstream wants no request
}

// rests reports whether the model is not to be asked.
func (f *failure) rests(now time.Time) bool {
	return now.Before(f.notBefore) || now.Before(f.until) && f.compactions < restCompactions
}

// New returns a Summarizer with a configuration that Check accepts.
func New(c Config, d Deps) *Summarizer {
	s := &Summarizer{deps: d, limits: DefaultLimits(), jobs: map[string]*job{}, failures: map[string]*failure{}}
	s.Configure(c)
	s.places = semaphore.NewWeighted(int64(s.limits.Jobs))
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
	p.Why = "it named none of the files that were written"
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

// join returns the job of a question: the one there is, or a new one if there is room. asked says that the caller
// waits.
func (s *Summarizer) join(q Question, asked bool) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, now := s.jobs[q.Key], time.Now()
	isNew := j == nil
	if isNew {
		j = s.newJob(q, asked)
	}
	f := s.failure(j)
	switch {
	case s.closed:
		return nil, ErrClosed
	case f.rests(now):
		if asked {
			f.compactions++
		}
		return nil, ErrRests
	case isNew && f.vain >= j.limits.Tries: // all that it may be asked is under way
		return nil, ErrRests
	case isNew && q.Distills && len(s.jobs) >= s.limits.Queue/2: // the rest is for summaries, which clients wait for
		return nil, ErrBusy
	case isNew && (len(s.jobs) >= s.limits.Jobs+s.limits.Queue || s.pending > 0 && s.pending+j.size > s.limits.Pending):
		return nil, ErrBusy // a question that is larger than all may be together is taken alone
	}
	if isNew {
		f.vain++
		s.jobs[q.Key] = j
		s.pending += j.size
		s.work.Go(func() { s.run(j) })
	}
	if asked && j.waited.IsZero() {
		j.waited = now
		if f.late {
			j.waited = now.Add(-j.limits.Wait) // its answer is for the compactions after this one
		}
	}
	return j, nil
}

func (s *Summarizer) newJob(q Question, asked bool) *job {
	j := &job{
		Summarizer: s, question: q, limits: s.limits, keyEnv: s.conf.KeyEnv, prepared: !asked, way: WayTranscript,
		upstream: cmp.Or(s.conf.Upstream, q.Upstream), model: cmp.Or(s.conf.Model, q.Model),
		dialect: q.Dialect, done: make(chan struct{}), size: int64(len(q.Continue) + len(q.Earlier)),
	}
	for i := range q.Transcript {
		j.size += int64(len(q.Transcript[i].Text))
	}
	j.question.Instructions = s.conf.Instructions
	if j.upstream != q.Upstream {
		j.dialect = s.deps.Dialect
	}
	if s.conf.Model != "" || s.conf.Upstream != "" { // another model gets a transcript, and has a window of its own
		j.question.Continue, j.question.Usable = nil, s.deps.Usable(j.upstream, j.model)
	}
	if j.question.Continue != nil {
		j.way = WayContinue
	}
	if q.Distills {
		j.step, j.limits.Tries = whole, s.limits.Queue/2 // many are asked at once
	}
	j.form.MaxOutput = s.limits.MaxOutput
	if usable := j.question.Usable; usable > 0 { // every window keeps an eighth free for answers, up to 8,192
		j.form.MaxOutput = min(j.form.MaxOutput, max(min(8_192, usable/7), minOutput))
	}
	return j
}

// subject names what rests after a failure: the model in the conversation, for summaries or for distillates.
func (j *job) subject() string {
	return fmt.Sprint(j.question.Conversation, " ", j.upstream, " ", j.model, " ", j.question.Distills)
}

// failure returns how the job's subject has failed. s.mu is held.
func (s *Summarizer) failure(j *job) *failure {
	const maxFailures = 4096 // that are remembered
	f := s.failures[j.subject()]
	if f == nil {
		if len(s.failures) >= maxFailures {
			clear(s.failures)
		}
		f = &failure{}
		s.failures[j.subject()] = f
	}
	return f
}

// rest begins the rest of a model, unless it rests. s.mu is held.
func (s *Summarizer) rest(j *job, f *failure) {
	now := time.Now()
	if f.rests(now) {
		return
	}
	f.vain, f.compactions, f.until = 0, 0, now.Add(restTime)
	s.deps.Tell(event.Summary{
		Kind: event.SummaryPaused, Time: now, Conversation: j.question.Conversation, Upstream: j.upstream,
		Model: event.Clip(j.model), Distills: j.question.Distills, Reason: fmt.Sprintf("the model is not asked in the "+
			"conversation for %d compactions or an hour", restCompactions),
	})
}

// giveUp has the model rest, as somebody has waited in vain.
func (s *Summarizer) giveUp(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[j.question.Key] != j { // it has just ended
		return
	}
	f := s.failure(j)
	f.late = true
	s.rest(j, f)
}

// end hands the outcome of a job to those who wait.
func (s *Summarizer) end(j *job, p Prose, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch f := s.failure(j); {
	case err != nil && s.closed:
		err = ErrClosed
	case errors.Is(err, ErrFailed):
		if f.vain >= j.limits.Tries {
			s.rest(j, f)
		}
		f.notBefore = time.Now().Add(j.retryAfter)
	case err == nil && f.late && j.cost.Took > j.limits.Wait:
		*f = failure{late: true}
	case err == nil:
		delete(s.failures, j.subject())
	}
	delete(s.jobs, j.question.Key)
	s.pending -= j.size
	j.prose, j.err = p, err
	close(j.done)
}
