package summarize

import (
	"fmt"
	"time"
)

const (
	firstHold   = 30 * time.Second // after a failure; each further one in a row doubles it
	maxHold     = 10 * time.Minute
	maxFailures = 4096 // that are remembered
	maxUseless  = 2    // questions in a row to which a model gave nothing usable
)

// failures are those of questions, by key, and those of models in conversations, by job.part.
type failures map[string]failure

type failure struct {
	err     error
	until   time.Time // it rests
	times   int       // in a row
	useless int       // of them, those that are the model's fault
}

// reason returns why a question is not asked now: it rests after a failure, or the model does and nobody waits for the
// answer, or the model is useless in this conversation.
func (f failures) reason(j *job, now time.Time) error {
	question, model := f[j.question.Key], f[j.part]
	switch {
	case model.useless >= maxUseless:
		return fmt.Errorf("%w: the model gave nothing usable before in this conversation", ErrFailed)
	case now.Before(question.until):
		return question.err
	case j.prepared && now.Before(model.until):
		return model.err
	}
	return nil
}

// add remembers a failed job. That an upstream is overloaded or out of reach says nothing about its model.
func (f failures) add(j *job, err error) {
	if len(f) >= maxFailures {
		clear(f)
	}
	for _, name := range [...]string{j.question.Key, j.part} {
		next := f[name]
		next.err, next.until = err, time.Now().Add(min(max(firstHold<<min(next.times, 8), j.hold), maxHold))
		if next.times++; !j.mayPass {
			next.useless++
		}
		f[name] = next
	}
}
