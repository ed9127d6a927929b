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
	*Summarizer
	question   Question // as it is asked: of the configured model and upstream, if there are any
	keyEnv     string
	wait       time.Duration // that a caller waits
	tries      int           // requests in vain before the model is paused
	size       int64         // bytes of the question, about
	isPrepared bool          // nobody waited for it when it was created
	waited     time.Time     // when somebody first did; guarded by Summarizer.mu

	ctx        context.Context // ends with the job's time
	prompt     prompt
	way        string
	form       answer.Form
	step       int            // of cutting the transcript down
	retryAfter time.Duration  // for which the upstream wants no request
	memory     *inject.Memory // that keeps what the answer says for later sessions; nil if nothing is learned
	owner      inject.Owner
	learned    string // what it says for them
	cost       event.Cost

	done  chan struct{} // closed when prose and err are final
	prose Prose
	err   error
}

// newJob returns the job of a question. s.mu is held.
func (s *Summarizer) newJob(q Question, isAwaited bool) *job {
	j := &job{
		Summarizer: s, keyEnv: s.conf.KeyEnv, wait: s.conf.Wait, isPrepared: !isAwaited, way: WayContinue,
		tries: maxTries, done: make(chan struct{}), size: int64(len(q.Continue) + len(q.Earlier)),
	}
	for i := range q.Transcript {
		j.size += int64(len(q.Transcript[i].Text))
	}
	j.question = s.redirected(q)
	if j.question.Continue == nil {
		j.way = WayTranscript
	}
	if q.Distills {
		j.step = uncut
		j.tries = maxQueue / 2 // many are asked for at once
	}
	j.form.MaxOutput = maxOutput
	usable := j.question.Usable
	if usable > 0 { // every window keeps an eighth free for answers, up to 8,192
		j.form.MaxOutput = min(j.form.MaxOutput, max(min(8_192, usable/7), minOutput))
	}
	return j
}

// redirected returns a question for the configured model and upstream. Another model gets a transcript, and has a
// window of its own; another upstream gets no credential. s.mu is held.
func (s *Summarizer) redirected(q Question) Question {
	q.Instructions = s.conf.Instructions
	upstream := cmp.Or(s.conf.Upstream, q.Upstream)
	if upstream != q.Upstream {
		q.Upstream, q.Dialect, q.Credential = upstream, s.deps.Dialect, nil
	}
	if s.conf.KeyEnv != "" {
		q.Credential = nil
	}
	if s.conf.Model != "" || s.conf.Upstream != "" {
		q.Model = cmp.Or(s.conf.Model, q.Model)
		q.Continue = nil
		q.Usable = s.deps.Usable(q.Upstream, q.Model)
	}
	return q
}

// run waits for the job's turn, does it, and hands the outcome to those who wait.
func (s *Summarizer) run(j *job) {
	ctx, cancel := context.WithTimeout(s.life, jobTime)
	defer cancel()
	if s.slots.Acquire(ctx, 1) != nil {
		s.end(j, Prose{}, ErrBusy)
		return
	}
	defer s.slots.Release(1)
	j.ctx = ctx
	p, err := Prose{}, fmt.Errorf("%w: a bug in epitome", ErrFailed)
	defer func() {
		if recover() != nil { // its value may have words of a conversation
			s.deps.Log.Error("a bug broke off a summary", "stack", string(debug.Stack()))
		}
		s.end(j, p, err)
	}()
	p, err = j.answer()
}

// keyPrefix begins the keys of answers in the store. Behind it is the question's.
const keyPrefix = "summary "

// answer returns the answer: one that was made meanwhile, or a new one, which is stored.
func (j *job) answer() (Prose, error) {
	if p, found, err := j.Look(j.question.Key); found || err != nil {
		return p, err
	}
	j.prompt = newPrompt(&j.question, j.maxTokens())
	j.learn()
	j.tell(event.SummaryStarted, 0, "")
	begun := time.Now()
	text, err := j.ask()
	j.cost.Took = time.Since(begun)
	var p Prose
	if err == nil {
		p, err = j.store(text)
	}
	if err != nil {
		j.tell(event.SummaryFailed, 0, err.Error())
		return Prose{}, err
	}
	j.tell(event.SummaryCompleted, j.deps.Count(p.Text), "")
	if j.memory != nil {
		if err := j.memory.Learn(j.owner, j.learned); err != nil {
			j.deps.Log.Warn("cannot keep the notes of a session", "why", err.Error())
		}
	}
	return p, nil
}

// store stores an answer. If another process was faster, everybody gets the answer of that one.
func (j *job) store(text string) (p Prose, err error) {
	value, _ := json.Marshal(Prose{Text: text, Cost: j.cost}) // plain data
	value, err = j.deps.Store.Swap(keyPrefix+j.question.Key, nil, value, j.deps.Keep)
	if err != nil {
		return p, j.fail("it cannot be stored: " + err.Error())
	}
	err = json.Unmarshal(value, &p)
	return p, err
}

func (j *job) tell(kind string, tokens int, reason string) {
	j.deps.Tell(event.Summary{
		Kind: kind, Time: time.Now(), Conversation: j.question.Conversation, Upstream: j.question.Upstream,
		Model: event.Clip(j.question.Model), Way: j.way, Update: j.question.Earlier != "", Prepared: j.isPrepared,
		Window: j.question.Window, SpanTokens: j.question.SpanTokens, Tokens: tokens, Cost: j.cost, Reason: event.Clip(reason),
		Key: keyPrefix + j.question.Key, Distills: j.question.Distills,
	})
}

// learn has a transcript's question also ask what later sessions need to know, where there is a memory for it.
func (j *job) learn() {
	owner := inject.Owner{Scope: j.question.Scope, Project: inject.ProjectName(j.question.Project)}
	if !j.deps.Memory.On() || owner.Project == "" || j.way != WayTranscript {
		return
	}
	known, err := j.deps.Memory.Read(owner)
	if err != nil {
		j.deps.Log.Warn("cannot read the notes of a project; a session adds none", "why", err.Error())
		return
	}
	j.memory, j.owner = j.deps.Memory, owner
	j.prompt.Heading, j.prompt.Asks, j.prompt.Learned = inject.Heading, inject.Asks, known.Inventory()
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
		a, status := j.send(body)
		text, why := j.read(a)
		switch {
		case j.ctx.Err() != nil:
			return "", j.late()
		case status != http.StatusOK || a.Error != nil:
			err = j.adapt(status, a.Error)
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

// body returns the next request.
func (j *job) body() ([]byte, error) {
	if j.way == WayContinue {
		body, err := j.question.Dialect.Continue(j.question.Continue, j.prompt.render("continue.md"), j.form)
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
	return j.transcriptBody(), nil
}

// transcriptBody returns a request of its own, with as much of the transcript as it has room for.
func (j *job) transcriptBody() []byte {
	name := "summary"
	if j.question.Distills {
		name = "distillate"
	}
	// After an answer that was cut, half of the output has no room beyond usable.
	room := j.question.Usable - j.form.MaxOutput/2
	for ; ; j.step++ {
		j.prompt.Record = turnsOf(&j.question, j.prompt.Tag, j.step)
		system, user := j.prompt.render(name+"-system.md"), j.prompt.render(name+".md")
		if j.question.Usable <= 0 || j.step >= lastStep || j.deps.Count(system)+j.deps.Count(user) <= room {
			return j.question.Dialect.Prompt(j.question.Model, system, user, j.form)
		}
	}
}

// send sends a request and reads its answer, whose Error has what the upstream says against the request. status is 0 if
// the upstream could not be reached or broke off.
func (j *job) send(body []byte) (a answer.Answer, status int) {
	q := &j.question
	api := q.Dialect.API()
	j.cost.Requests++
	resp, err := j.deps.Send(j.ctx, Request{
		Upstream: q.Upstream, Path: api.Path, Body: body,
		Credential: q.Credential, KeyEnv: j.keyEnv, Authorize: api.Authorize,
	})
	if err != nil {
		return a, 0
	}
	j.retryAfter = retryAfter(resp.RetryAfter)
	if resp.Status != http.StatusOK {
		a.Error = resp.Body[:min(len(resp.Body), maxRefusal)]
		return a, resp.Status
	}
	a, err = answer.Read(q.Dialect, resp.Body)
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
	return a, resp.Status
}

func (j *job) fail(why string) error { return fmt.Errorf("%w: %s", ErrFailed, why) }

func (j *job) late() error { return j.fail("there was no answer within " + jobTime.String()) }
