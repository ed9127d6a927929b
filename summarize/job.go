package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"epitome/event"
	"epitome/prose"
)

// job is a question that waits for its turn or is being asked.
type job struct {
	question prose.Question // emptied at the end: neither conversation nor credential outlive the job
	conf     Config
	key      string
	size     int64
	made     time.Time
	upstream string    // that is asked
	asked    bool      // someone waits for it, or has done so
	since    time.Time // when the first one came who did
	prepared bool      // nobody did when it began

	begun chan struct{} // closed when it is its turn
	done  chan struct{} // closed when prose and err stand
	prose prose.Prose
	err   error
}

// join returns the job of a question: the one there is, or a new one if there is room.
func (s *Summariser) join(q prose.Question, asked bool) (*job, error) {
	conf := s.settle(&q)
	if q.Key == "" {
		return nil, fmt.Errorf("%w: the question has no key", ErrFailed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	now := time.Now()
	if j := s.jobs[q.Key]; j != nil {
		if asked && !j.asked {
			j.asked, j.since = true, now
		}
		s.startLocked()
		return j, nil
	}
	j := &job{
		question: q, conf: conf, key: q.Key, size: sizeOf(&q), upstream: cmp.Or(conf.Upstream, q.Upstream),
		made: now, asked: asked, since: now, begun: make(chan struct{}), done: make(chan struct{}),
	}
	if err := s.heldLocked(j, now); err != nil {
		return nil, err
	}
	if !s.roomLocked(j) {
		return nil, ErrBusy
	}
	s.jobs[j.key] = j
	s.queue = append(s.queue, j)
	s.pending += j.size
	s.startLocked()
	return j, nil
}

// settle returns the configuration by which q is asked from now on, with q's own detail. Where that names another model
// than the conversation's own, q is told as text and has that model's window.
func (s *Summariser) settle(q *prose.Question) Config {
	conf := *s.conf.Load()
	conf.Detail = cmp.Or(q.Detail, conf.Detail)
	if conf.Model != "" || conf.Upstream != "" {
		q.Continue = nil
		q.Usable = s.means.Usable(cmp.Or(conf.Upstream, q.Upstream), cmp.Or(conf.Model, q.Model))
	}
	return conf
}

// sizeOf returns the memory that a question holds, about, in bytes.
func sizeOf(q *prose.Question) int64 {
	const perEntry = 64
	n := len(q.Key) + len(q.Continue) + len(q.Earlier)
	for i := range q.Transcript {
		e := &q.Transcript[i]
		n += len(e.Tool) + len(e.State) + len(e.Text) + perEntry
	}
	return int64(n)
}

// heldLocked returns why the job's question is not asked now: it failed a while ago, or, if nobody waits for it,
// another one of its model.
func (s *Summariser) heldLocked(j *job, now time.Time) error {
	if err := s.failures.holdError(j.key, now); err != nil || j.asked {
		return err
	}
	return s.failures.holdError(j.line(), now)
}

// line names the upstream and model that are asked. No key of a question is like it: they are hashes.
func (j *job) line() string {
	kind := "line "
	switch { // what a result or a session makes a model say must not keep summaries from being made
	case j.question.Distils():
		kind = "line of distillates "
	case j.question.Learns():
		kind = "line of sessions "
	}
	return kind + j.upstream + " " + cmp.Or(j.conf.Model, j.question.Model)
}

// roomLocked reports whether one more job may run or wait. What is prepared takes no more than half of the queue,
// distillates and sessions no more than a quarter, and one question may be larger than all of them should be together.
func (s *Summariser) roomLocked(j *job) bool {
	conf := s.conf.Load()
	if s.pending > 0 && s.pending+j.size > int64(conf.Pending) {
		return false
	}
	places := conf.Queue
	switch {
	case j.question.Distils() || j.question.Learns():
		places /= 4
	case !j.asked:
		places /= 2
	}
	return len(s.queue) < places || len(s.queue) == 0 && s.running < conf.Jobs
}

// startLocked starts as many jobs as may run.
func (s *Summariser) startLocked() {
	for jobs := s.conf.Load().Jobs; s.running < jobs && !s.closed; {
		i := s.nextLocked(jobs)
		if i < 0 {
			return
		}
		j := s.queue[i]
		s.queue = slices.Delete(s.queue, i, i+1)
		s.running++
		s.busy[j.upstream]++
		close(j.begun)
		if j.prepared = !j.asked; j.prepared {
			s.prepared++
		}
		s.work.Add(1)
		go s.run(j)
	}
}

// nextLocked returns whose turn it is: the oldest job that someone waits for, else the oldest; -1 if it is nobody's.
// One place stays free for those that are waited for, if there are two, and a quarter of them for other upstreams than
// the one that has the rest.
func (s *Summariser) nextLocked(jobs int) int {
	free := func(asked bool) func(*job) bool {
		return func(j *job) bool { return j.asked == asked && s.busy[j.upstream] < jobs-jobs/4 }
	}
	if i := slices.IndexFunc(s.queue, free(true)); i >= 0 || s.prepared >= max(1, jobs-1) {
		return i
	}
	return slices.IndexFunc(s.queue, free(false))
}

func (s *Summariser) run(j *job) {
	defer s.work.Done()
	m := &making{Summariser: s, q: &j.question, conf: &j.conf}
	p, err := m.runGuarded(j)
	s.finish(j, m.hold, p, err)
	if err == nil {
		m.lessons.keep(s) // now that nobody waits
	}
}

// finish makes room for other jobs, and hands the outcome to those who wait. hold is how long the upstream wants to be
// left alone.
func (s *Summariser) finish(j *job, hold time.Duration, p prose.Prose, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if s.busy[j.upstream]--; s.busy[j.upstream] == 0 {
		delete(s.busy, j.upstream)
	}
	if j.prepared {
		s.prepared--
	}
	switch {
	case err == nil:
		delete(s.failures, j.key)
		delete(s.failures, j.line())
	case errors.Is(err, ErrFailed):
		s.failures.add(j.key, err, hold)
		s.failures.add(j.line(), err, hold)
	}
	s.endLocked(j, p, err)
	s.startLocked()
}

// endLocked hands the outcome to those who wait.
func (s *Summariser) endLocked(j *job, p prose.Prose, err error) {
	delete(s.jobs, j.key)
	s.pending -= j.size
	j.question, j.conf = prose.Question{}, Config{}
	j.prose, j.err = p, err
	close(j.done)
}

// runGuarded does the job. A panic is a failure of this job alone.
func (m *making) runGuarded(j *job) (p prose.Prose, err error) {
	begun := time.Now()
	defer func() {
		if caught := recover(); caught != nil {
			m.means.logPanic("a bug broke off a summary", caught)
			p, err = prose.Prose{}, fmt.Errorf("%w: a bug in epitome", ErrFailed)
			m.tell(event.SummaryFailed, prose.Prose{}, "a bug in epitome")
		}
	}()
	if p, ok := m.Ready(j.key); ok { // it was made between the asker's look and the job
		return p, nil
	}
	var cancel context.CancelFunc
	m.ctx, cancel = context.WithDeadline(m.life, j.made.Add(j.conf.Timeout.D()))
	defer cancel()
	if m.ctx.Err() != nil && m.life.Err() == nil {
		return prose.Prose{}, ErrBusy // its time has passed in the queue
	}
	giveBack, p, err := m.takeLease(j.key)
	if giveBack == nil {
		return p, err
	}
	failed := firstHold // of a panic, too
	defer func() { giveBack(failed) }()
	m.begin(j)
	m.tell(event.SummaryStarted, prose.Prose{}, "")
	p, err = m.ask()
	m.cost.Took = time.Since(begun)
	if err != nil {
		failed = max(firstHold, m.hold)
		m.tell(event.SummaryFailed, m.cost, err.Error())
		return prose.Prose{}, err
	}
	failed = 0
	p = m.archive.save(j.key, m.withCost(p))
	m.tell(event.SummaryCompleted, p, "")
	return p, nil
}

// logPanic says where it happened. What a panic says may be of the conversation, unless the runtime says it.
func (m *Means) logPanic(message string, caught any) {
	what := "a panic"
	var bug runtime.Error
	if err, ok := caught.(error); ok && errors.As(err, &bug) {
		what = bug.Error()
	}
	m.Log.Error(message, "panic", what, "stack", string(debug.Stack()))
}

// tell tells an event. Whoever hears it cannot break the job.
func (m *making) tell(kind string, p prose.Prose, reason string) {
	defer func() {
		if caught := recover(); caught != nil {
			m.means.logPanic("an event of a summary could not be told", caught)
		}
	}()
	m.means.Tell(event.Summary{
		Kind: kind, Time: time.Now(), Conversation: m.q.Conversation, Upstream: m.upstream(),
		Model:  event.Clip(m.model()),
		Detail: m.conf.Detail, Way: m.way, Update: m.q.Earlier != "", Prepared: m.early, SpanTokens: m.q.SpanTokens,
		Tokens: p.Tokens, Cost: p.Cost, Reason: event.Clip(reason),
	})
}
