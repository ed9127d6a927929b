package summarize

import (
	"errors"
	"fmt"
	"time"

	"epitome/event"
)

// A model that is paused is asked again after so many compactions, or after so long.
const (
	pauseCompactions = 5
	pauseTime        = time.Hour
)

// failure is how a model has failed in a conversation since it last answered in time.
type failure struct {
	tries       int       // requests in vain since the last pause, with those under way
	isLate      bool      // a caller has waited in vain
	until       time.Time // the end of the pause
	compactions int       // since the pause began
	notBefore   time.Time // until then the upstream wants no request
}

// isPaused reports whether the model is not to be asked.
func (f *failure) isPaused(now time.Time) bool {
	return now.Before(f.notBefore) || now.Before(f.until) && f.compactions < pauseCompactions
}

// subject names what is paused after failures: the model in the conversation, for summaries or for distillates.
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

// pause begins a pause of the job's model, unless it is paused. s.mu is held.
func (s *Summarizer) pause(j *job, f *failure) {
	now := time.Now()
	if f.isPaused(now) {
		return
	}
	f.tries, f.compactions = 0, 0
	f.until = now.Add(pauseTime)
	s.deps.Tell(event.Summary{
		Kind: event.SummaryPaused, Time: now, Conversation: j.question.Conversation, Upstream: j.upstream,
		Model: event.Clip(j.model), Distills: j.question.Distills, Reason: fmt.Sprintf("the model is not asked in the "+
			"conversation for %d compactions or an hour", pauseCompactions),
	})
}

// giveUp pauses the model, as somebody has waited in vain.
func (s *Summarizer) giveUp(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[j.question.Key] != j { // it has just ended
		return
	}
	f := s.failure(j)
	f.isLate = true
	s.pause(j, f)
}

// note keeps how a job has ended. s.mu is held.
func (s *Summarizer) note(j *job, err error) {
	f := s.failure(j)
	switch {
	case errors.Is(err, ErrFailed):
		if f.tries >= j.limits.Tries {
			s.pause(j, f)
		}
		f.notBefore = time.Now().Add(j.retryAfter)
	case err == nil && f.isLate && j.cost.Took > j.limits.Wait:
		*f = failure{isLate: true}
	case err == nil:
		delete(s.failures, j.subject())
	}
}

// mayAskAgain reports whether another request may be in vain, behind one that was, and counts it.
func (j *job) mayAskAgain() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	f := j.failure(j)
	if f.tries >= j.limits.Tries {
		return false
	}
	f.tries++
	return true
}
