package summarize

import (
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
	notBefore   time.Time // until then the upstream wants no request
}

// isPaused reports whether the model is not to be asked.
func (f *failure) isPaused(now time.Time) bool {
	return now.Before(f.notBefore) || now.Before(f.until) && f.compactions < pauseCompactions
}

// subject names what is paused after failures: the model in the conversation, for summaries or for distillates.
func (j *job) subject() string {
	q := &j.question
	return fmt.Sprint(q.Conversation, " ", q.Upstream, " ", q.Model, " ", q.Distills)
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
	q := &j.question
	s.deps.Tell(event.Summary{
		Kind: event.SummaryPaused, Time: now, Conversation: q.Conversation, Upstream: q.Upstream,
		Model: event.Clip(q.Model), Distills: q.Distills, Reason: fmt.Sprintf(
			"the model is not asked in the conversation for %d compactions or an hour", pauseCompactions),
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
		if f.tries >= j.tries {
			s.pause(j, f)
		}
		f.notBefore = time.Now().Add(j.retryAfter)
	case err == nil && f.isLate && j.cost.Took > j.wait:
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
	if f.tries >= j.tries {
		return false
	}
	f.tries++
	return true
}

// How long a job waits before it sends the same request once more.
const (
	leastPause = time.Second
	mostPause  = 10 * time.Second // that an upstream may ask for; for a longer one no job waits
	mostAfter  = 24 * time.Hour   // that a longer one counts for
)

// adapt changes the next request after one that was not answered. An error says that there is none.
func (j *job) adapt(status int, refusal []byte) error {
	said := fmt.Sprintf("the upstream answered with status %d", status)
	isTooLong := status == http.StatusRequestEntityTooLarge || j.deps.Overflow(status, refusal)
	mayPass := status == http.StatusRequestTimeout || status == http.StatusTooEarly ||
		status == http.StatusTooManyRequests || status >= 500
	switch {
	case status == 0:
		return j.repeatLater("the upstream could not be reached or broke off")
	case isTooLong:
		_ = j.mayAskAgain() // the next request counts as well, and is sent in any case, as it is shorter
		j.step++            // of a transcript, which is cut further down
		if j.way == WayTranscript && j.step <= lastStep {
			return nil
		}
		return j.fallBack("the request for it is too long")
	case status == http.StatusOK:
		return j.repeatLater("the upstream reported an error within its answer")
	case mayPass:
		return j.repeatLater(said)
	case status >= 401 && status <= 404:
		return j.fail(said)
	}
	if form, ok := adaptForm(j.form, refusal); ok {
		j.form = form
		return nil
	}
	if !j.mayAskAgain() {
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

// adaptForm returns the form to ask in after a provider has refused f: with a lower cap on the output, with the other
// cap, or as a stream. It is false if f is not what was refused.
func adaptForm(f answer.Form, refusal []byte) (answer.Form, bool) {
	if found := highestCap.FindSubmatch(refusal); found != nil {
		if n, err := strconv.Atoi(string(found[1])); err == nil && n > 0 && n < f.MaxOutput {
			f.MaxOutput = n
			return f, true
		}
	}
	switch {
	case !f.OtherCap && anyCap.Match(refusal):
		f.OtherCap = true
	case !f.Stream && streamWord.Match(refusal):
		f.Stream = true
	default:
		return f, false
	}
	return f, true
}

// fallBack leaves the conversation itself for its transcript.
func (j *job) fallBack(why string) error {
	if j.way != WayContinue || len(j.question.Transcript) == 0 {
		return j.fail(why)
	}
	j.way = WayTranscript
	j.step = 0
	return nil
}

// repeatLater waits before the same request is sent once more. A prepared question is left to the compaction that
// needs it: until then the reason may have passed.
func (j *job) repeatLater(why string) error {
	if j.isPrepared || j.retryAfter > mostPause || !j.mayAskAgain() {
		return j.fail(why)
	}
	select {
	case <-time.After(max(leastPause, j.retryAfter)):
		return nil
	case <-j.ctx.Done():
		return j.late()
	}
}

// retryAfter returns what a header Retry-After asks for, as seconds or as a date; 0 if it is neither.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(max(0, min(seconds, int(mostAfter/time.Second)))) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, min(time.Until(date), mostAfter))
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
	if (a.Cut || a.Called) && len(j.question.Transcript) > 0 {
		j.way = WayTranscript // it has no tools, and leaves room for a long answer
	}
	return nil
}
