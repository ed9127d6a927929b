package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"epitome/summarize/prose"
)

// job is a question that waits for its turn or is being asked. It begins with the request that costs least, and changes
// what the upstream objects to.
type job struct {
	*Summarizer
	question prose.Question
	limits   Limits
	upstream string // that is asked
	model    string
	dialect  Dialect // nil if it is unknown
	part     string  // names what the model does in the conversation
	size     int64   // bytes of the question, about
	created  time.Time
	prepared bool // nobody waited for it when it was created
	begun    atomic.Bool

	asked  bool      // somebody waits for it, or did
	waited time.Time // when somebody first did

	ctx     context.Context // ends with the job's time
	prompt  prompt
	way     string
	form    prose.Form
	step    int           // of cutting the transcript down
	tries   int           // that failed for a reason that may pass
	mayPass bool          // it failed for a reason that may pass
	hold    time.Duration // how long the upstream wants to be left alone
	lessons lessons

	done  chan struct{} // closed when prose and err are final
	prose prose.Prose   // its cost grows while the job runs
	err   error
}

// join returns the job of a question: the one there is, or a new one if there is room.
func (s *Summarizer) join(q prose.Question, asked bool) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	now := time.Now()
	if j := s.jobs[q.Key]; j != nil {
		if asked && !j.asked {
			j.asked, j.waited = true, now
		}
		return j, nil
	}
	j := s.newJob(q, asked, now)
	if err := s.failures.reason(j, now); err != nil {
		return nil, err
	}
	if !s.hasRoom(j) {
		return nil, ErrBusy
	}
	s.jobs[q.Key] = j
	s.pending += j.size
	places := []*semaphore.Weighted{s.places}
	if j.prepared {
		places = []*semaphore.Weighted{s.preparedPlaces, s.places}
	}
	s.work.Go(func() { s.run(j, places) })
	return j, nil
}

func (s *Summarizer) newJob(q prose.Question, asked bool, now time.Time) *job {
	j := &job{
		Summarizer: s, question: q, limits: s.limits, created: now, prepared: !asked, asked: asked, waited: now,
		upstream: cmp.Or(s.conf.Upstream, q.Upstream), model: cmp.Or(s.conf.Model, q.Model),
		dialect: s.deps.Dialects[q.Dialect], way: prose.WayTranscript, done: make(chan struct{}),
		size: int64(len(q.Continue) + len(q.Earlier)),
	}
	for i := range q.Transcript {
		j.size += int64(len(q.Transcript[i].Text))
	}
	j.part = strings.Join([]string{q.Conversation, j.upstream, j.model}, " ")
	if j.upstream != q.Upstream {
		j.dialect = s.deps.Dialects[""]
	}
	if s.conf.Model != "" || s.conf.Upstream != "" { // another model gets a transcript, and has a window of its own
		j.question.Continue, j.question.Usable = nil, s.deps.Usable(j.upstream, j.model)
	}
	if j.question.Continue != nil {
		j.way = prose.WayContinue
	}
	j.form.MaxOutput = j.limits.MaxOutput
	if usable := j.question.Usable; usable > 0 { // every window keeps an eighth free for answers, up to 8,192
		j.form.MaxOutput = min(j.form.MaxOutput, max(min(8_192, usable/7), minOutput))
	}
	return j
}

// hasRoom reports whether one more job may run or wait. Those that nobody waits for take at most half of the queue. A question that is larger than all may be together is taken alone.
func (s *Summarizer) hasRoom(j *job) bool {
	queue := j.limits.Queue
	if !j.asked {
		queue /= 2
	}
	fits := s.pending == 0 || s.pending+j.size <= j.limits.Pending
	return fits && len(s.jobs) < j.limits.Jobs+queue
}

// run waits for the job's turn, does it, and hands the outcome to those who wait.
func (s *Summarizer) run(j *job, places []*semaphore.Weighted) {
	ctx, cancel := context.WithDeadline(s.life, j.created.Add(j.limits.Timeout))
	defer cancel()
	for _, place := range places {
		if place.Acquire(ctx, 1) != nil {
			s.end(j, prose.Prose{}, ErrBusy)
			return
		}
		defer place.Release(1)
	}
	j.begun.Store(true)
	j.ctx = ctx
	p, err := prose.Prose{}, fmt.Errorf("%w: a bug in epitome", ErrFailed)
	defer func() {
		if recover() != nil { // its value may have words of a conversation
			s.deps.Log.Error("a bug broke off a summary", "stack", string(debug.Stack()))
		}
		s.end(j, p, err)
	}()
	p, err = j.answer()
}

// end hands the outcome of a job to those who wait.
func (s *Summarizer) end(j *job, p prose.Prose, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil && s.closed:
		err = ErrClosed
	case errors.Is(err, ErrFailed):
		s.failures.add(j, err)
	case err == nil:
		delete(s.failures, j.question.Key)
		delete(s.failures, j.part)
	}
	delete(s.jobs, j.question.Key)
	s.pending -= j.size
	j.prose, j.err = p, err
	close(j.done)
}
