package summarize

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"epitome/event"
	"epitome/summarize/prose"
)

// Limits of one job.
const (
	maxRequests = 20
	firstPause  = time.Second // before a second try; each further pause is twice as long
	maxPause    = time.Minute // an upstream that asks for a longer one is not asked again
	maxRefusal  = 64 << 10    // bytes of an error that are read
)

// answer returns the answer: one that was made meanwhile, or a new one, which is stored.
func (j *job) answer() (prose.Prose, error) {
	if p, found := j.Peek(j.question.Key); found {
		return p, nil
	}
	j.prompt = newPrompt(&j.question, j.maxTokens())
	j.learn()
	j.tell(event.SummaryStarted, "")
	begun := time.Now()
	text, err := j.ask()
	j.prose.Took, j.prose.Made = time.Since(begun), time.Now()
	j.prose.Way, j.prose.Upstream, j.prose.Model = j.way, j.upstream, j.model
	var p prose.Prose
	if err == nil {
		j.prose.Text, j.prose.Tokens = text, j.deps.Count(text)
		p, err = j.put(j.prose)
	}
	if err != nil {
		j.tell(event.SummaryFailed, err.Error())
		return prose.Prose{}, err
	}
	j.tell(event.SummaryCompleted, "")
	j.keepLessons()
	return p, nil
}

func (j *job) tell(kind, reason string) {
	j.deps.Tell(event.Summary{
		Kind: kind, Time: time.Now(), Conversation: j.question.Conversation, Upstream: j.upstream,
		Model: event.Clip(j.model), Way: j.way, Update: j.question.Earlier != "",
		Prepared: j.prepared, SpanTokens: j.question.SpanTokens, Tokens: j.prose.Tokens, Cost: j.prose.Cost,
		Reason: event.Clip(reason),
	})
}

// maxTokens returns how many tokens the text may have: no more than what it replaces. 0 is no limit.
func (j *job) maxTokens() int {
	if j.question.Room > 0 && j.question.SpanTokens > 0 {
		return min(j.question.Room, j.question.SpanTokens)
	}
	return max(j.question.Room, j.question.SpanTokens)
}

// ask sends requests until one is answered well or nothing is left to try.
func (j *job) ask() (string, error) {
	for range maxRequests {
		body, err := j.body()
		if err != nil {
			return "", err
		}
		answer, status, after := j.send(body)
		text, why := j.read(answer)
		switch {
		case j.ctx.Err() != nil:
			return "", j.late()
		case status != http.StatusOK || answer.Error != nil:
			err = j.adapt(status, after, answer.Error)
		case why != "":
			err = j.askAgain(why, answer)
		default:
			return text, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", j.fail("too many requests were needed for it")
}

// body returns the next request.
func (j *job) body() ([]byte, error) {
	if j.dialect == nil {
		return nil, j.fail("its API is unknown")
	}
	if j.way == prose.WayContinue {
		body, err := j.dialect.Continue(j.question.Continue, j.prompt.render("continue.md"), j.form)
		if err == nil {
			return body, nil
		}
		if err := j.fallBack("the conversation cannot be continued"); err != nil {
			return nil, err
		}
	}
	if len(j.question.Transcript) == 0 {
		return nil, j.fail("there is nothing to ask")
	}
	room := j.question.Usable - j.form.MaxOutput/2 // after an answer that was cut, that is what has no room beyond usable
	for ; ; j.step++ {
		j.prompt.Record = transcript(&j.question, j.prompt.Tag, j.step)
		system, user := j.prompt.render(j.prompt.name+"-system.md"), j.prompt.render(j.prompt.name+".md")
		if j.question.Usable <= 0 || j.step >= lastStep || j.deps.Count(system)+j.deps.Count(user) <= room {
			return j.dialect.Prompt(j.model, system, user, j.form), nil
		}
	}
}

// send sends a request and reads its answer, whose Error has what the upstream says against the request. status is 0 if
// the upstream could not be reached or broke off; after is the header Retry-After.
func (j *job) send(body []byte) (answer prose.Answer, status int, after string) {
	r := Request{Upstream: j.upstream, Path: j.dialect.Path(), Body: body, Authorize: j.dialect.Authorize}
	if j.conf.KeyEnv != "" {
		r.KeyEnv = j.conf.KeyEnv
	} else if r.Upstream == j.question.Upstream {
		r.Credential = j.question.Credential
	}
	j.prose.Requests++
	resp, err := j.deps.Send(j.ctx, r)
	if err != nil || resp.Body == nil {
		return answer, 0, ""
	}
	stop := context.AfterFunc(j.ctx, func() { _ = resp.Body.Close() }) // ends a read that waits
	defer func() {
		stop()
		_ = resp.Body.Close()
	}()
	if resp.Status != http.StatusOK {
		answer.Error, _ = io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
		return answer, resp.Status, resp.RetryAfter
	}
	answer, err = j.dialect.ReadAnswer(resp.Body)
	j.prose.InputTokens += answer.Input
	j.prose.CachedTokens += answer.Cached
	j.prose.WrittenTokens += answer.Written
	j.prose.OutputTokens += answer.Output
	if answer.Input == 0 {
		j.prose.Untold++
	}
	if err != nil {
		return answer, 0, ""
	}
	return answer, resp.Status, ""
}

// adapt changes the next request after one that was not answered. An error says that there is none.
func (j *job) adapt(status int, after string, refusal []byte) error {
	said := fmt.Sprintf("the upstream answered with status %d", status)
	switch {
	case status == 0:
		return j.pause("the upstream could not be reached or broke off", "")
	case status == http.StatusRequestEntityTooLarge || j.deps.Overflow(status, refusal):
		if j.step++; j.way == prose.WayTranscript && j.step <= lastStep {
			return nil
		}
		return j.fallBack("the request for it is too long")
	case status == http.StatusOK:
		return j.pause("the upstream reported an error within its answer", "")
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly ||
		status == http.StatusTooManyRequests || status >= 500:
		return j.pause(said, after)
	case status >= 401 && status <= 404:
		return j.fail(said)
	}
	if form, ok := adaptForm(j.form, refusal); ok {
		j.form = form
		return nil
	}
	return j.fallBack(said)
}

// fallBack leaves the conversation itself for its transcript.
func (j *job) fallBack(why string) error {
	if j.way != prose.WayContinue || len(j.question.Transcript) == 0 {
		return j.fail(why)
	}
	j.way, j.step = prose.WayTranscript, 0
	return nil
}

// pause waits before the same request is sent once more, for as long as the upstream wants, if that is not too long.
func (j *job) pause(why, after string) error {
	seconds, _ := strconv.ParseUint(after, 10, 31) // 0 if it is a date
	wanted := time.Duration(seconds) * time.Second
	pause := max(firstPause<<min(j.tries, 6), wanted)
	deadline, _ := j.ctx.Deadline()
	if j.tries++; j.tries >= j.limits.Tries || pause > maxPause || time.Until(deadline) <= pause {
		j.mayPass, j.hold = true, wanted
		return j.fail(why)
	}
	select {
	case <-time.After(pause):
		return nil
	case <-j.ctx.Done():
		return j.late()
	}
}

// askAgain says in the next request why the answer could not be used. A second such answer is the last.
func (j *job) askAgain(why string, answer prose.Answer) error {
	if j.prompt.Why != "" {
		return j.fail(why)
	}
	if j.prompt.Why = why; answer.Cut { // reasoning may have used up the output
		j.form.MaxOutput *= 2
	}
	if (answer.Cut || answer.Called) && len(j.question.Transcript) > 0 {
		j.way = prose.WayTranscript // it has no tools, and leaves room for a long answer
	}
	return nil
}

func (j *job) fail(why string) error { return fmt.Errorf("%w: %s", ErrFailed, why) }

func (j *job) late() error { return j.fail("there was no answer within " + j.limits.Timeout.String()) }
