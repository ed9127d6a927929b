package summarize

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/inject"
)

// Limits of one job.
const (
	maxRequests = 20
	maxRefusal  = 64 << 10 // bytes of an error that are read
)

// job is a question that waits for its turn or is being asked. It begins with the request that costs least, and changes
// what the upstream objects to.
type job struct {
	s          *Summarizer
	question   Question  // as it is asked: of the configured model and upstream, if there are any
	size       int64     // bytes of the question, about
	isPrepared bool      // nobody waited for it when it was created
	deadline   time.Time // until when callers wait, once somebody does; guarded by Summarizer.mu

	prompt  prompt
	form    answer.Form
	step    int           // of cutting the transcript down
	pause   time.Duration // before the same request may be sent again
	learned string        // what the answer says for later sessions
	cost    event.Cost

	done  chan struct{} // closed when prose and err are final
	prose Prose
	err   error
}

// newJob returns the job of a question. s.mu is held.
func (s *Summarizer) newJob(q Question, isAwaited bool) *job {
	j := &job{s: s, question: s.redirected(q), isPrepared: !isAwaited, done: make(chan struct{})}
	j.size = int64(len(q.Continue) + len(q.Brief.Earlier))
	for i := range q.Transcript {
		j.size += int64(len(q.Transcript[i].Text))
	}
	if q.Distills {
		j.step = uncut
	}
	// Every window keeps an eighth free for answers, up to more than maxOutput.
	j.form.MaxOutput = min(maxOutput, max(j.question.Model.Usable/7, minOutput))
	return j
}

// redirected returns a question for the configured model and upstream. Another model gets a transcript, and has a
// window of its own; another upstream gets no credential. s.mu is held.
func (s *Summarizer) redirected(q Question) Question {
	m := &q.Model
	q.Brief.Instructions = s.conf.Instructions
	m.KeyEnv = s.conf.KeyEnv
	upstream := cmp.Or(s.conf.Upstream, m.Upstream)
	if upstream != m.Upstream {
		m.Upstream, m.Dialect, m.Credential = upstream, s.deps.Dialect, nil
	}
	if m.KeyEnv != "" {
		m.Credential = nil
	}
	if s.conf.Model != "" || s.conf.Upstream != "" {
		m.Name = cmp.Or(s.conf.Model, m.Name)
		m.Usable = s.deps.Usable(m.Upstream, m.Name)
		q.Continue = nil
	}
	return q
}

// run waits for the job's turn, does it, and hands the outcome to those who wait.
func (j *job) run() {
	defer j.end()
	ctx, cancel := context.WithTimeout(j.s.life, jobTime)
	defer cancel()
	if j.s.slots.Acquire(ctx, 1) != nil {
		j.err = ErrBusy
		return
	}
	defer j.s.slots.Release(1)
	if ctx.Err() != nil { // a place may come free as all jobs end
		j.err = ErrBusy
		return
	}
	defer func() {
		if recover() != nil { // its value may have words of a conversation
			j.err = fmt.Errorf("%w: a bug in epitome", ErrFailed)
			j.s.deps.Log.Error("a bug broke off a summary", "stack", string(debug.Stack()))
		}
	}()
	j.prose, j.err = j.answer(ctx)
}

func (j *job) end() {
	s := j.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.err != nil && s.closed {
		j.err = ErrClosed
	}
	s.note(j)
	delete(s.jobs, j.question.Key)
	s.pending -= j.size
	close(j.done)
}

// keyPrefix begins the keys of answers in the store. Behind it is the question's.
const keyPrefix = "summary "

// answer returns the answer: one that was made meanwhile, or a new one, which is stored.
func (j *job) answer(ctx context.Context) (Prose, error) {
	p, found, err := j.s.Look(j.question.Key)
	if found || err != nil {
		return p, err
	}
	j.prompt = newPrompt(&j.question)
	j.showLearned()
	j.tell(event.SummaryStarted, 0, "")
	begun := time.Now()
	text, err := j.ask(ctx)
	j.cost.Took = time.Since(begun)
	if err == nil {
		p, err = j.store(text)
	}
	if err != nil {
		j.tell(event.SummaryFailed, 0, err.Error())
		return Prose{}, err
	}
	j.tell(event.SummaryCompleted, j.s.deps.Count(p.Text), "")
	if j.prompt.Heading != "" {
		err := j.s.deps.Memory.Learn(j.question.owner(), j.learned)
		if err != nil {
			j.s.deps.Log.Warn("cannot keep the notes of a session", "why", err.Error())
		}
	}
	return p, nil
}

// store stores an answer. If another process was faster, everybody gets the answer of that one.
func (j *job) store(text string) (p Prose, err error) {
	value, _ := json.Marshal(Prose{Text: text, Cost: j.cost}) // plain data
	value, err = j.s.deps.Store.Swap(keyPrefix+j.question.Key, nil, value, j.s.deps.Keep)
	if err != nil {
		return p, j.fail("it cannot be stored: " + err.Error())
	}
	err = json.Unmarshal(value, &p)
	return p, err
}

// event returns an event about the job, as far as it has no cost.
func (j *job) event(kind, reason string) event.Summary {
	q := &j.question
	return event.Summary{
		Kind: kind, Time: time.Now(), Conversation: q.Conversation, Client: q.Client, Upstream: q.Model.Upstream,
		Model: event.Clip(q.Model.Name), Distills: q.Distills, Reason: event.Clip(reason),
	}
}

func (j *job) tell(kind string, tokens int, reason string) {
	q, e := &j.question, j.event(kind, reason)
	e.Way = WayTranscript
	if q.Continue != nil {
		e.Way = WayContinue
	}
	e.Update, e.Prepared, e.Key = q.Brief.Earlier != "", j.isPrepared, keyPrefix+q.Key
	e.Window, e.SpanTokens, e.Tokens, e.Cost = q.Window, q.SpanTokens, tokens, j.cost
	j.s.deps.Tell(e)
}

// showLearned has a transcript's question also ask what later sessions need to know, where there is a memory for it.
func (j *job) showLearned() {
	owner := j.question.owner()
	if !j.s.deps.Memory.On() || owner.Project == "" || j.question.Continue != nil {
		return
	}
	known, err := j.s.deps.Memory.Read(owner)
	if err != nil {
		j.s.deps.Log.Warn("cannot read the notes of a project; a session adds none", "why", err.Error())
		return
	}
	j.prompt.Heading, j.prompt.Learned = inject.Heading, known.Inventory()
}

// ask sends requests until one is answered well or nothing is left to try.
func (j *job) ask(ctx context.Context) (string, error) {
	for range maxRequests {
		a, status := j.send(ctx, j.body())
		text, why := j.read(a)
		var err error
		switch {
		case ctx.Err() != nil:
			return "", j.late()
		case status != http.StatusOK || a.Error != nil:
			err = j.adapt(ctx, status, a.Error)
		case why != "":
			err = j.askAgain(why, a)
		default:
			return text, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", j.fail("too many requests were needed for it")
}

// body returns the next request: the conversation with an instruction behind it, or one of its own.
func (j *job) body() []byte {
	q := &j.question
	if q.Continue != nil {
		body, err := q.Model.Dialect.Continue(q.Continue, j.prompt.render("continue.md"), j.form)
		if err == nil {
			return body
		}
		q.Continue = nil
	}
	name := "summary"
	if q.Distills {
		name = "distillate"
	}
	// After an answer that was cut, half of the output has no room beyond usable.
	room := q.Model.Usable - j.form.MaxOutput/2
	for ; ; j.step++ {
		j.prompt.Record = turnsOf(q.Transcript, j.prompt.Tag, j.step)
		system, user := j.prompt.render(name+"-system.md"), j.prompt.render(name+".md")
		if j.step >= lastStep || j.s.deps.Count(system)+j.s.deps.Count(user) <= room {
			return conversation.Prompt(q.Model.Dialect, q.Model.Name, system, user, j.form)
		}
	}
}

// send sends a request and reads its answer, whose Error has what the upstream says against the request. status is 0 if
// the upstream could not be reached or broke off.
func (j *job) send(ctx context.Context, body []byte) (a answer.Answer, status int) {
	j.cost.Requests++
	status, said, wait, err := j.s.deps.Send(ctx, j.question.Model, body)
	j.pause = max(repeatPause, wait)
	if err != nil {
		return a, 0
	}
	if status != http.StatusOK {
		a.Error = said[:min(len(said), maxRefusal)]
		return a, status
	}
	a, err = answer.Read(j.question.Model.Dialect, said)
	j.cost.InputTokens += a.Input
	j.cost.CachedTokens += a.Cached
	j.cost.WrittenTokens += a.Written
	j.cost.OutputTokens += a.Output
	if a.Input == 0 {
		j.cost.Unreported++
	}
	if err != nil {
		return a, 0
	}
	return a, status
}

func (j *job) fail(why string) error { return fmt.Errorf("%w: %s", ErrFailed, why) }

func (j *job) late() error { return j.fail("there was no answer within " + jobTime.String()) }
