// Package summarize writes the summary that replaces older messages of a conversation, and their transcript.
//
// Text has a model's words, if one was asked, and what code knows for sure: the user's messages, the agent's task list,
// files written, calls and how they ended, and the agent's last words. A message of the user is in it word for word or
// not at all. No line of the conversation can pass for a heading of the summary. Text depends on its arguments alone,
// and budgets bound its size.
//
// A Summarizer asks models, each question once. Equal questions share one job, also across a restart and across
// processes that share a store, and an answer is stored before anybody gets it. A caller waits at most Config.Wait
// and may leave earlier; the job goes on until jobTime. After maxTries requests in vain, or a wait in vain, the model
// is paused: it is not asked in that conversation for pauseCompactions compactions, or for pauseTime if that ends
// first. After a wait in vain, none waits again until an answer has come in time. Jobs, memory, requests per job and
// the size of an answer are bounded.
//
// A credential lives in memory, as long as the job that needs it. No log, event or error has a word of a conversation,
// a credential or an upstream's answer. A model may be wrong: what must be right is written by code.
package summarize

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	Usable   func(upstream, model string) int   // as Model.Usable, of Config.Model
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
	closed   bool
	jobs     map[string]*job     // by key of the question
	pending  int64               // bytes of their questions
	failures map[string]*failure // by subject
}

// New returns a Summarizer with a configuration that was checked.
func New(c Config, d Deps) *Summarizer {
	s := &Summarizer{
		deps: d, slots: semaphore.NewWeighted(maxJobs), jobs: map[string]*job{}, failures: map[string]*failure{},
	}
	s.Configure(c)
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// Configure sets the configuration for questions that come from now on.
func (s *Summarizer) Configure(c Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conf = c
	s.conf.Wait = cmp.Or(c.Wait, usualWait)
}

// Ask returns the answer to q, for a compaction. It waits until ctx ends or Config.Wait has passed since somebody
// first waited for it: then the error is ErrLate and the job goes on. No model is asked while the store fails, as it
// may have the answer and could not take another one.
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
	case <-time.After(time.Until(j.deadline)):
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

// Close ends all jobs, and returns when none runs any more.
func (s *Summarizer) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.work.Wait()
}

// Look returns an answer that was made before. After an error it is not known whether there is one.
func (s *Summarizer) Look(key string) (p Prose, found bool, err error) {
	value, err := store.Get(s.deps.Store, keyPrefix+key)
	if err != nil {
		return Prose{}, false, fmt.Errorf("%w: cannot look for a stored one: %w", ErrFailed, err)
	}
	if json.Unmarshal(value, &p) != nil || p.Text == "" {
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
	case isNew && f.tries >= j.question.maxTries(): // all that it may be asked is under way
		return nil, ErrPaused
	case isNew && !s.hasRoom(j):
		return nil, ErrBusy
	}
	if isNew {
		f.tries++
		s.jobs[q.Key] = j
		s.pending += j.size
		s.work.Go(j.run)
	}
	if isAwaited && j.deadline.IsZero() {
		j.deadline = now
		if !f.isLate { // else the answer is for the compactions after this one
			j.deadline = now.Add(s.conf.Wait)
		}
	}
	return j, nil
}

// hasRoom reports whether there is room for a new job. A question that is larger than all may be together is taken
// alone. s.mu is held.
func (s *Summarizer) hasRoom(j *job) bool {
	if j.question.Distills && len(s.jobs) >= maxQueue/2 { // the rest is for summaries, which clients wait for
		return false
	}
	return len(s.jobs) < maxJobs+maxQueue && (s.pending == 0 || s.pending+j.size <= MaxPending)
}

// Config is the table [summarize] of config.toml, where each key is explained for users.
type Config struct {
	Mode         Mode   `toml:"mode"`
	Detail       Detail `toml:"detail"`
	Model        string `toml:"model"` // empty: the conversation's own
	Upstream     string `toml:"upstream"`
	KeyEnv       string `toml:"key_env"`      // name of the environment variable that holds the key for Upstream
	Prepare      string `toml:"prepare"`      // auto, on or off: whether a model is asked ahead of need
	Instructions string `toml:"instructions"` // of the user, for each summary by a model
	Distill      bool   `toml:"distill"`      // a model is asked for distillates of large results

	Wait time.Duration `toml:"-"` // for which a request waits, its retries included; 0: a minute
}

// What summaries may cost in time, memory and requests. A request waits longer than most models need, and less than
// most clients wait; a conversation needs a summary now and then, so four jobs at once serve many.
const (
	usualWait  = time.Minute
	jobTime    = 5 * time.Minute // from when it was first asked for
	maxJobs    = 4               // at once
	maxQueue   = 16              // jobs that wait for their turn
	MaxPending = 256 << 20       // bytes of conversations that wait or are asked about
	maxTries   = 2               // requests in vain in a conversation before the model is paused in it
	maxOutput  = 8_000           // tokens of one answer, reasoning included
)

// Tokens of an answer: the smallest cap in which a short summary has room, and the length that a summary is asked for.
const (
	minOutput     = 512
	summaryTokens = 1_500
)

// AskTokens is how many tokens of usable a request needs behind Question.Continue, beside the user's instructions: the
// answer fits into what every window keeps free.
const AskTokens = 1_000

// Mode says of which parts a summary is made. config.toml explains the modes for users.
type Mode string

// The modes of a summary.
const (
	Auto     Mode = "auto"     // Hybrid
	LLM      Mode = "llm"      // a model's words alone; where there are none, as Intent
	Intent   Mode = "intent"   // by code alone: all that was called, too
	Hybrid   Mode = "hybrid"   // a model's words, and by code all that was called
	Window   Mode = "window"   // nothing new: the oldest groups go, and a model's earlier words stay
	Lossless Mode = "lossless" // by code alone: how everything stands, without the calls that led there
)

// The names of all modes and levels of detail.
var (
	Modes   = []string{string(Auto), string(LLM), string(Intent), string(Hybrid), string(Window), string(Lossless)}
	Details = []string{string(Low), string(Medium), string(High), string(Full), string(Truncate)}
)

// Parse returns the mode or level with a name, which has to be one of some. The error does not repeat the name.
func Parse[T Mode | Detail](name string, names []string) (T, error) {
	if !slices.Contains(names, name) {
		return "", fmt.Errorf("write one of %s", strings.Join(names, ", "))
	}
	return T(name), nil
}

// Detail says how long summaries are: a model's text, and the part by code in proportion. Empty is Medium.
type Detail string

// The levels of detail, with about the tokens of a model's text.
const (
	Low    Detail = "low"    // 600
	Medium Detail = "medium" // 1,500
	High   Detail = "high"   // 3,000

	Full     Detail = "full"     // nothing is compacted unless it is asked for, or the provider refuses
	Truncate Detail = "truncate" // as with the mode Window
)

// share returns how much of the room of Medium a summary takes, and how many tokens a model's text may have: a third
// more than it is asked for.
func (d Detail) share() (share, prose float64) {
	switch d {
	case Low:
		return 0.4, 800
	case High:
		return 2, 4_000
	}
	return 1, 1_750
}

// Asks reports whether a model is asked for summaries in this mode.
func (m Mode) Asks() bool { return m.OrDefault() == Hybrid || m == LLM }

// OrDefault returns the mode that Auto, and no mode, stand for: Hybrid.
func (m Mode) OrDefault() Mode {
	if m == "" || m == Auto {
		return Hybrid
	}
	return m
}
