package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"epitome/prose"
)

// Bounds of one job's dealings with the upstream.
const (
	mostRequests = 20               // whatever they are sent for
	firstPause   = time.Second      // before a second try; each further pause is twice as long
	longestPause = time.Minute      // an upstream that asks for a longer one is not asked again
	mostRefusal  = 64 << 10         // bytes of an error's body that are looked at
	mostReceived = 64 << 20         // bytes of an answer as it comes over the wire; one in a stream is mostly envelope
	mostHold     = 10 * time.Minute // how long a failure keeps a question from being asked again
)

// making is the asking of one question: it begins with the way that costs least, and changes what the upstream
// objects to.
type making struct {
	*Summariser
	ctx   context.Context // ends with the job's time
	q     *prose.Question
	conf  *Config
	early bool // nobody waited for it when it began

	dialect Dialect // nil if it is none that is known
	wording wording
	way     string
	form    prose.Form
	step    int           // of cutting the transcript down
	tries   int           // failures that may pass, so far
	sharper bool          // an answer was refused already
	cost    prose.Prose   // of all requests
	hold    time.Duration // how long the upstream wants to be left alone
	lessons *lessons      // what is learned beside it; nil if nothing is
}

// reply is what came of one request.
type reply struct {
	prose.Answer
	status  int // 0 if none came
	refusal []byte
	after   string
	err     error
}

func (m *making) begin(j *job) {
	m.early = j.prepared
	m.wording = wordingOf(m.q, m.conf.Detail)
	if most := m.tokenLimit(); most > 0 {
		const least = 100
		m.wording.tokens = max(min(m.wording.tokens, most*3/4), least)
	}
	m.form = prose.Form{MaxOutput: outputCap(m.conf.MaxOutput, m.q.Usable)}
	m.way = prose.WayTranscript
	if m.q.Continue != nil {
		m.way = prose.WayContinue
	}
	m.learn()
	m.dialect = m.means.Dialects[m.q.Dialect]
	if m.upstream() != m.q.Upstream {
		m.dialect = m.means.Dialects[""]
	}
}

// tokenLimit returns how many tokens the prose may have: it must be shorter than what it stands for. 0 is no limit.
func (m *making) tokenLimit() int {
	if m.q.Room > 0 && m.q.SpanTokens > 0 {
		return min(m.q.Room, m.q.SpanTokens)
	}
	return max(m.q.Room, m.q.SpanTokens)
}

func (m *making) model() string    { return cmp.Or(m.conf.Model, m.q.Model) }
func (m *making) upstream() string { return cmp.Or(m.conf.Upstream, m.q.Upstream) }

// ask sends requests until one is answered well or there is nothing left to try.
func (m *making) ask() (prose.Prose, error) {
	if m.dialect == nil {
		return prose.Prose{}, m.failWith("nobody here speaks the API of the conversation")
	}
	if m.wording.alone && m.lessons == nil {
		return prose.Prose{}, m.failWith("there is no memory for what the session teaches")
	}
	for range mostRequests {
		body, err := m.body()
		if err != nil {
			return prose.Prose{}, err
		}
		r := m.send(body)
		text, tokens, err := m.judge(&r)
		if err != nil {
			return prose.Prose{}, err
		}
		if text != "" {
			return prose.Prose{Text: text, Tokens: tokens}, nil
		}
	}
	return prose.Prose{}, m.failWith("too many requests were needed for it")
}

// body returns the next request.
func (m *making) body() ([]byte, error) {
	if m.way == prose.WayContinue {
		body, err := m.dialect.Continue(m.q.Continue, m.wording.instruction(), m.form)
		if err == nil {
			return body, nil
		}
		if err := m.fallBack("the conversation cannot be continued"); err != nil {
			return nil, err
		}
	}
	if len(m.q.Transcript) == 0 {
		return nil, m.failWith("there is nothing to summarise")
	}
	system := m.wording.role()
	for ; ; m.step++ {
		user := m.wording.ask(m.q, m.step)
		room := m.q.Usable - beyondReserve(m.form.MaxOutput, m.q.Usable)
		if m.q.Usable <= 0 || m.step >= lastStep || m.means.Count(system)+m.means.Count(user) <= room {
			return m.dialect.Prompt(m.model(), system, user, m.form), nil
		}
	}
}

func (m *making) send(body []byte) reply {
	r := Request{Upstream: m.upstream(), Path: m.dialect.Path(), Body: body, Authorize: m.dialect.Authorize}
	if m.conf.KeyEnv != "" {
		r.KeyEnv = m.conf.KeyEnv
	} else if r.Upstream == m.q.Upstream {
		r.Credential = m.q.Credential
	}
	m.cost.Requests++
	resp, err := m.means.Send(m.ctx, r)
	if err != nil {
		return reply{err: err}
	}
	if resp.Body == nil {
		return reply{err: io.ErrUnexpectedEOF}
	}
	// Whatever the body waits for ends with the job.
	stop := context.AfterFunc(m.ctx, func() { _ = resp.Body.Close() })
	defer func() {
		stop()
		_ = resp.Body.Close()
	}()
	if resp.Status < 200 || resp.Status > 299 {
		refusal, _ := io.ReadAll(io.LimitReader(resp.Body, mostRefusal))
		return reply{status: resp.Status, refusal: refusal, after: resp.RetryAfter}
	}
	a, err := m.dialect.ReadAnswer(resp.ContentType, &bounded{resp.Body, mostReceived})
	return reply{Answer: a, status: resp.Status, refusal: a.Error, err: err}
}

// judge returns the prose, or an error if there will be none; neither if there is another request to send.
func (m *making) judge(r *reply) (text string, tokens int, err error) {
	m.cost.InputTokens += r.Input
	m.cost.CachedTokens += r.Cached
	m.cost.WrittenTokens += r.Written
	m.cost.OutputTokens += r.Output
	ok := r.status >= 200 && r.status <= 299
	if ok && r.Input == 0 {
		m.cost.Untold++
	}
	switch {
	case m.ctx.Err() != nil:
		return "", 0, m.endError()
	case r.err != nil:
		return "", 0, m.pauseBeforeRetry("the upstream could not be reached or broke off", "")
	case !ok || r.Error != nil:
		return "", 0, m.adaptTo(r)
	}
	text, tokens, why := m.wording.judge(r.Answer, m.tokenLimit(), m.means.Count)
	if why != "" {
		return "", 0, m.sharpen(why, r)
	}
	m.lessons.hear(r.Answer, m.wording)
	return text, tokens, nil
}

// adaptTo changes what the provider objects to.
func (m *making) adaptTo(r *reply) error {
	said := fmt.Sprintf("the upstream answered with status %d", r.status)
	ok := r.status >= 200 && r.status <= 299
	switch {
	case m.means.Overflow(r.status, r.refusal):
		return m.shrink()
	case ok:
		return m.pauseBeforeRetry("the upstream reported an error within its answer", "")
	case r.status == 408 || r.status == 425 || r.status == 429 || r.status >= 500:
		return m.pauseBeforeRetry(said, r.after)
	case r.status == 413:
		return m.shrink()
	case r.status == 401 || r.status == 402 || r.status == 403 || r.status == 404:
		return m.failWith(said)
	}
	if form, ok := m.dialect.Adapt(m.form, r.refusal); ok && form != m.form {
		m.form = form
		return nil
	}
	return m.fallBack(said)
}

// shrink makes the next request shorter.
func (m *making) shrink() error {
	const why = "the request for it is too long"
	if m.way == prose.WayContinue {
		return m.fallBack(why)
	}
	if m.step++; m.step > lastStep {
		return m.failWith(why)
	}
	return nil
}

// fallBack leaves the way that does not work for the other one.
func (m *making) fallBack(why string) error {
	if m.way != prose.WayContinue || len(m.q.Transcript) == 0 {
		return m.failWith(why)
	}
	m.way = prose.WayTranscript
	return nil
}

// pauseBeforeRetry waits before the same request is sent once more, for as long as the upstream wants, if that is not
// too long.
func (m *making) pauseBeforeRetry(why, after string) error {
	m.tries++
	wanted := retryAfter(after)
	pause := max(firstPause<<min(m.tries-1, 6), wanted)
	deadline, _ := m.ctx.Deadline()
	if m.tries >= m.conf.Tries || wanted > longestPause || time.Until(deadline) <= pause {
		m.hold = min(wanted, mostHold)
		return m.failWith(why)
	}
	rest := time.NewTimer(min(pause, longestPause))
	defer rest.Stop()
	select {
	case <-rest.C:
		return nil
	case <-m.ctx.Done():
		return m.endError()
	}
}

// retryAfter returns what a Retry-After header asks for; 0 if it cannot be read.
func retryAfter(after string) time.Duration {
	if n, err := strconv.ParseUint(after, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := time.Parse(time.RFC1123, after); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// sharpen asks once more, and says what was wrong.
func (m *making) sharpen(why string, r *reply) error {
	if m.sharper {
		return m.failWith(why)
	}
	m.sharper, m.wording.why = true, why
	unfit := false
	if r.Cut {
		m.form.MaxOutput *= 2 // reasoning may have used it up
		unfit = m.q.Usable > 0 && beyondReserve(m.form.MaxOutput, m.q.Usable) > 0
	}
	// There are no tools to call, or nobody knows whether there is room behind the conversation for so much.
	if (r.Called || unfit) && m.way == prose.WayContinue && len(m.q.Transcript) > 0 {
		m.way = prose.WayTranscript
	}
	return nil
}

func (m *making) failWith(why string) error { return fmt.Errorf("%w: %s", ErrFailed, why) }

// endError returns why the job's time is over.
func (m *making) endError() error {
	if errors.Is(m.life.Err(), context.Canceled) {
		return ErrClosed
	}
	return m.failWith("there was no answer within " + m.conf.Timeout.String())
}

// withCost returns p with what all requests for it cost.
func (m *making) withCost(p prose.Prose) prose.Prose {
	text, tokens := p.Text, p.Tokens
	p = m.cost
	p.Text, p.Tokens, p.Way, p.Upstream, p.Model, p.Made = text, tokens, m.way, m.upstream(), m.model(), time.Now()
	return p
}

// errTooMuch says that an answer goes on and on.
var errTooMuch = errors.New("the answer is too large")

// bounded fails when more than left bytes come out of it.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}
