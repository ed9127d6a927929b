package summarize

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"
	"time"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/inject"
)

// Limits of one job.
const (
	maxRequests = 20
	leastPause  = time.Second      // before the same request is sent once more
	mostPause   = 10 * time.Second // that an upstream may ask for; for a longer one no job waits
	mostAfter   = 24 * time.Hour   // that a longer one counts for
	maxRefusal  = 64 << 10         // bytes of an error that are read
)

// job is a question that waits for its turn or is being asked. It begins with the request that costs least, and changes
// what the upstream objects to.
type job struct {
	*Summarizer
	question Question
	limits   Limits
	upstream string // that is asked
	model    string
	keyEnv   string
	dialect  conversation.Dialect
	size     int64     // bytes of the question, about
	prepared bool      // nobody waited for it when it was created
	waited   time.Time // when somebody first did; guarded by Summarizer.mu

	ctx        context.Context // ends with the job's time
	prompt     prompt
	way        string
	form       answer.Form
	step       int            // of cutting the transcript down
	retryAfter time.Duration  // for which the upstream wants no request
	memory     *inject.Memory // that keeps what the answer says for later sessions; nil if nothing is learned
	owner      inject.Owner
	learned    inject.Learned
	cost       event.Cost

	done  chan struct{} // closed when prose and err are final
	prose Prose
	err   error
}

// run waits for the job's turn, does it, and hands the outcome to those who wait.
func (s *Summarizer) run(j *job) {
	ctx, cancel := context.WithTimeout(s.life, j.limits.Timeout)
	defer cancel()
	if s.places.Acquire(ctx, 1) != nil {
		s.end(j, Prose{}, ErrBusy)
		return
	}
	defer s.places.Release(1)
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

// Look returns an answer that was made before. After an error it is not known whether there is one.
func (s *Summarizer) Look(key string) (p Prose, found bool, err error) {
	value, found, err := s.deps.Store.Get(keyPrefix + key)
	if err != nil {
		return Prose{}, false, fmt.Errorf("%w: cannot look for a stored one: %w", ErrFailed, err)
	}
	if !found || json.Unmarshal(value, &p) != nil || p.Text == "" {
		return Prose{}, false, nil
	}
	return p, true, nil
}

// answer returns the answer: one that was made meanwhile, or a new one, which is stored.
func (j *job) answer() (p Prose, err error) {
	if p, found, err := j.Look(j.question.Key); found || err != nil {
		return p, err
	}
	j.prompt = newPrompt(&j.question, j.maxTokens())
	j.learn()
	j.tell(event.SummaryStarted, 0, "")
	begun := time.Now()
	text, err := j.ask()
	j.cost.Took = time.Since(begun)
	if err == nil {
		p = Prose{Text: text, Cost: j.cost}
		value, _ := json.Marshal(p) // plain data
		if value, err = j.deps.Store.Swap(keyPrefix+j.question.Key, nil, value, j.deps.Keep); err != nil {
			err = j.fail("it cannot be stored: " + err.Error())
		} else { // another process may have been faster: everybody gets what is there
			err = json.Unmarshal(value, &p)
		}
	}
	if err != nil {
		j.tell(event.SummaryFailed, 0, err.Error())
		return Prose{}, err
	}
	j.tell(event.SummaryCompleted, j.deps.Count(p.Text), "")
	if j.memory != nil && !j.learned.IsEmpty() {
		if err := j.memory.Learn(j.owner, j.learned); err != nil {
			j.deps.Log.Warn("cannot keep the notes of a session", "why", err.Error())
		}
	}
	return p, nil
}

func (j *job) tell(kind string, tokens int, reason string) {
	j.deps.Tell(event.Summary{
		Kind: kind, Time: time.Now(), Conversation: j.question.Conversation, Upstream: j.upstream,
		Model: event.Clip(j.model), Way: j.way, Update: j.question.Earlier != "", Prepared: j.prepared,
		SpanTokens: j.question.SpanTokens, Tokens: tokens, Cost: j.cost, Reason: event.Clip(reason),
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
	j.prompt.Learns, j.prompt.Learned = true, known.Inventory()
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
	name := "summary"
	if j.question.Distills {
		name = "distillate"
	}
	room := j.question.Usable - j.form.MaxOutput/2 // after an answer that was cut, that is what has no room beyond usable
	for ; ; j.step++ {
		j.prompt.Record = turnsOf(&j.question, j.prompt.Tag, j.step)
		system, user := j.prompt.render(name+"-system.md"), j.prompt.render(name+".md")
		if j.question.Usable <= 0 || j.step >= lastStep || j.deps.Count(system)+j.deps.Count(user) <= room {
			return j.dialect.Prompt(j.model, system, user, j.form), nil
		}
	}
}

// send sends a request and reads its answer, whose Error has what the upstream says against the request. status is 0 if
// the upstream could not be reached or broke off.
func (j *job) send(body []byte) (a answer.Answer, status int) {
	r := Request{Upstream: j.upstream, Path: j.dialect.Path(), Body: body, KeyEnv: j.keyEnv,
		Authorize: j.dialect.Authorize}
	if j.keyEnv == "" && j.upstream == j.question.Upstream {
		r.Credential = j.question.Credential
	}
	j.cost.Requests++
	resp, err := j.deps.Send(j.ctx, r)
	if err != nil {
		return a, 0
	}
	j.retryAfter = retryAfter(resp.RetryAfter)
	if resp.Status != http.StatusOK {
		a.Error = resp.Body[:min(len(resp.Body), maxRefusal)]
		return a, resp.Status
	}
	a, err = answer.Read(j.dialect, resp.Body)
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

// adapt changes the next request after one that was not answered. An error says that there is none.
func (j *job) adapt(status int, refusal []byte) error {
	said := fmt.Sprintf("the upstream answered with status %d", status)
	switch {
	case status == 0:
		return j.pause("the upstream could not be reached or broke off")
	case status == http.StatusRequestEntityTooLarge || j.deps.Overflow(status, refusal):
		if j.step++; j.way == WayTranscript && j.step <= lastStep {
			return nil
		}
		return j.fallBack("the request for it is too long")
	case status == http.StatusOK:
		return j.pause("the upstream reported an error within its answer")
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly ||
		status == http.StatusTooManyRequests || status >= 500:
		return j.pause(said)
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

// mayAskAgain reports whether another request may be in vain, behind one that was, and counts it.
func (j *job) mayAskAgain() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	f := j.failure(j)
	if f.vain >= j.limits.Tries {
		return false
	}
	f.vain++
	return true
}

// fallBack leaves the conversation itself for its transcript.
func (j *job) fallBack(why string) error {
	if j.way != WayContinue || len(j.question.Transcript) == 0 {
		return j.fail(why)
	}
	j.way, j.step = WayTranscript, 0
	return nil
}

// pause waits before the same request is sent once more. A prepared question is left to the compaction that needs it:
// until then the reason may have passed.
func (j *job) pause(why string) error {
	if j.prepared || j.retryAfter > mostPause || !j.mayAskAgain() {
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

func (j *job) fail(why string) error { return fmt.Errorf("%w: %s", ErrFailed, why) }

func (j *job) late() error { return j.fail("there was no answer within " + j.limits.Timeout.String()) }
