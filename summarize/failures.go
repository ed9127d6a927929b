package summarize

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"epitome/dialect/answer"
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
}

// isPaused reports whether the model is not to be asked.
func (f *failure) isPaused(now time.Time) bool {
	return now.Before(f.until) && f.compactions < pauseCompactions
}

// subject names what is paused after failures: the model in the conversation, for summaries or for distillates.
func (q *Question) subject() string {
	return fmt.Sprint(q.Conversation, " ", q.Model.Upstream, " ", q.Model.Name, " ", q.Distills)
}

// maxTries returns how many requests may be in vain before the model is paused.
func (q *Question) maxTries() int {
	if q.Distills {
		return maxQueue / 2 // many are asked for at once
	}
	return maxTries
}

// failure returns how the job's subject has failed. s.mu is held.
func (s *Summarizer) failure(j *job) *failure {
	const maxFailures = 4096 // that are remembered
	subject := j.question.subject()
	f := s.failures[subject]
	if f == nil {
		if len(s.failures) >= maxFailures {
			clear(s.failures)
		}
		f = &failure{}
		s.failures[subject] = f
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
	s.deps.Tell(j.event(event.SummaryPaused,
		fmt.Sprintf("the model is not asked in the conversation for %d compactions or an hour", pauseCompactions)))
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
func (s *Summarizer) note(j *job) {
	f := s.failure(j)
	switch {
	case errors.Is(j.err, ErrFailed):
		if f.tries >= j.question.maxTries() {
			s.pause(j, f)
		}
	case j.err == nil && f.isLate && j.cost.Took > s.conf.Wait:
		*f = failure{isLate: true}
	case j.err == nil:
		delete(s.failures, j.question.subject())
	}
}

// mayAskAgain reports whether another request may be in vain, behind one that was, and counts it.
func (j *job) mayAskAgain() bool {
	j.s.mu.Lock()
	defer j.s.mu.Unlock()
	f := j.s.failure(j)
	if f.tries >= j.question.maxTries() {
		return false
	}
	f.tries++
	return true
}

// repeatPause is how long a job waits at least before it sends the same request once more.
const repeatPause = time.Second

// adapt changes the next request after one that was not answered. An error says that there is none.
func (j *job) adapt(ctx context.Context, status int, refusal []byte) error {
	said := fmt.Sprintf("the upstream answered with status %d", status)
	mayPass := status == http.StatusRequestTimeout || status == http.StatusTooEarly ||
		status == http.StatusTooManyRequests || status >= 500
	switch {
	case status == 0:
		return j.repeatLater(ctx, "the upstream could not be reached or broke off")
	case status == http.StatusRequestEntityTooLarge || j.s.deps.Overflow(status, refusal):
		_ = j.mayAskAgain() // the next request counts as well, and is sent in any case, as it is shorter
		if j.question.Continue == nil && j.step < lastStep {
			j.step++
			return nil
		}
		return j.fallBack("the request for it is too long")
	case status == http.StatusOK:
		return j.repeatLater(ctx, "the upstream reported an error within its answer")
	case mayPass:
		return j.repeatLater(ctx, said)
	case status >= 401 && status <= 404:
		return j.fail(said)
	case j.adaptForm(refusal):
		return nil
	case !j.mayAskAgain():
		return j.fail(said)
	}
	return j.fallBack(said)
}

// What refusals say of a form: a cap on the output and how high it may be, a cap that is unknown, or that the provider
// answers in streams alone. A complaint about an upstream is none about streams.
var (
	highestCap = regexp.MustCompile(`(?i)\bmax(?:_completion|_output)?_tokens\b[^<>]*?` +
		`(?:<=?|>|at most|equal to) ?([0-9]+)`)
	anyCap     = regexp.MustCompile(`\bmax(?:_completion|_output)?_tokens\b`)
	streamWord = regexp.MustCompile(`(?i)\bstream(?:ing|ed)?\b`)
)

// adaptForm changes the form to ask in after the provider has refused it: to a lower cap on the output, the other cap,
// or a stream. It reports false if the form is not what was refused.
func (j *job) adaptForm(refusal []byte) bool {
	f := &j.form
	if found := highestCap.FindSubmatch(refusal); found != nil {
		n, err := strconv.Atoi(string(found[1]))
		if err == nil && n > 0 && n < f.MaxOutput {
			f.MaxOutput = n
			return true
		}
	}
	switch {
	case !f.OtherCap && anyCap.Match(refusal):
		f.OtherCap = true
	case !f.Stream && streamWord.Match(refusal):
		f.Stream = true
	default:
		return false
	}
	return true
}

// fallBack leaves the conversation itself for its transcript.
func (j *job) fallBack(why string) error {
	if j.question.Continue == nil {
		return j.fail(why)
	}
	j.question.Continue = nil
	return nil
}

// repeatLater waits before the same request is sent once more. A prepared question is left to the compaction that
// needs it: until then the reason may have passed. Nor is one repeated that would have to wait beyond the job's end.
func (j *job) repeatLater(ctx context.Context, why string) error {
	end, _ := ctx.Deadline()
	if j.isPrepared || time.Until(end) < j.pause || !j.mayAskAgain() {
		return j.fail(why)
	}
	select {
	case <-time.After(j.pause):
		return nil
	case <-ctx.Done():
		return j.late()
	}
}

// askAgain says in the next request why the answer could not be used. A second such answer is the last.
func (j *job) askAgain(why string, a answer.Answer) error {
	if j.prompt.Why != "" || !j.mayAskAgain() {
		return j.fail(why)
	}
	j.prompt.Why = why
	if a.Cut { // reasoning may have used up the output
		j.form.MaxOutput *= 2
	}
	if a.Cut || a.Called {
		j.question.Continue = nil // a transcript has no tools, and leaves room for a long answer
	}
	return nil
}
