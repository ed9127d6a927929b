package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"epitome/bench/policy"
	"epitome/bench/replay/figures"
	"epitome/bench/report"
	"epitome/rewrite/conversation"
)

// mostFaults is how many faults of one policy in one conversation the report tells; all are counted.
const mostFaults = 3

// player plays one conversation through one policy in one window.
type player struct {
	shaping   policy.Shaping
	recording *recording
	policy    string
	window    int
	bill      policy.Tariff // of the provider

	previous request // the request before, as it was sent
	sentIn   []int   // for each of the client's messages the number of the last request that held it as it is, from 1
	reader   *reader
	tally    tally
	faults   []string

	track      track
	mostMisses int // how many are kept
	misses     []figures.Miss
	account    markedAccount
}

// track is what stays of each request, for the conversation's course.
type track struct {
	rawTokens  []int // of the request as the client sent it
	sentTokens []int // of the request as it was sent
	decisions  []int // numbers of the requests with a decision, from 1
}

// request is what was sent, read for measuring.
type request struct {
	messages []*message
	tools    string
	fixed    int
	tokens   int
	made     []*message // those that are none of the client's

	artifacts []string // that those may name, the last ones first
}

func newPlayer(c *recording, name string, window int, s policy.Shaping) *player {
	return &player{
		shaping: s, recording: c, policy: name, window: window, bill: policy.BillTariff(policy.NewPrice),
		sentIn: make([]int, len(c.messages)), reader: newReader(s.Artifact, c.meter),
	}
}

func (p *player) close() error {
	if p.shaping.Close == nil {
		return nil
	}
	if err := p.shaping.Close(); err != nil {
		return fmt.Errorf("%s: %w", p.policy, err)
	}
	return nil
}

// turn plays and measures the request at one boundary. An error says that nothing more can be played.
func (p *player) turn(bound int, original *conversation.Request) error {
	var shaped policy.Shaped
	var err error
	p.tally.cpu = append(p.tally.cpu, report.Milliseconds(Of(func() {
		shaped, err = p.shaping.Shape(original.Body, p.recording.requestTime(bound))
	})))
	if errors.Is(err, policy.ErrNoWay) {
		return fmt.Errorf("%s: %w", p.recording.name, err)
	}
	sent, err := p.accept(shaped, err, original)
	now := p.read(sent)
	if err == nil && sent != original && p.recording.client.provider == nil {
		err = conversation.Worse(original, sent)
	}
	if refused := p.hand(sent, original, bound); err == nil {
		err = refused
	}
	if err != nil {
		p.tally.invalid++
		p.fault(bound, err)
	}
	held := p.reusedTokens(now, shaped.Decided, bound)
	p.charge(policy.Input{Tokens: now.tokens, Held: held}, shaped.Asked, bound)
	p.reader.begin(held < p.previous.tokens)
	p.recall(bound, now)
	p.tally.read.join(p.reader.read(now.tokens))
	p.sight(bound, now)
	p.previous = now
	return nil
}

func (p *player) fault(bound int, err error) {
	if len(p.faults) < mostFaults {
		p.faults = append(p.faults, fmt.Sprintf("%s: %s, window %d, request %d: %v", p.recording.name, p.policy,
			p.window, bound+1, err))
	}
}

// accept reads what would be sent. With an error it returns what is measured all the same: the client's request, if the
// outcome cannot be read.
func (p *player) accept(shaped policy.Shaped, err error, original *conversation.Request) (
	*conversation.Request, error) {
	if err != nil {
		return original, fmt.Errorf("cannot shape the request: %w", err)
	}
	if bytes.Equal(shaped.Body, original.Body) {
		return original, shaped.Invalid
	}
	sent, err := readRequest(p.recording.client.dialect, shaped.Body)
	if err != nil {
		return original, err
	}
	return sent, shaped.Invalid
}

// read measures a request's messages. One that stood at the same place before, or that is the client's, is known.
func (p *player) read(r *conversation.Request) request {
	now := request{tools: string(r.Tools.Of(r.Body)), fixed: p.recording.fixed}
	if now.tools != string(p.recording.request.Tools.Of(p.recording.request.Body)) {
		now.fixed = p.recording.meter.Fixed(r)
	}
	now.tokens = now.fixed
	number := p.tally.requests + 1
	for i := range r.Items {
		m := p.message(r, i)
		now.messages = append(now.messages, m)
		now.tokens += m.Tokens
		if m.origin < 0 {
			now.made = append(now.made, m)
			continue
		}
		p.sentIn[m.origin] = number
	}
	for _, m := range slices.Backward(now.made) {
		now.artifacts = append(now.artifacts, m.artifacts...)
	}
	return now
}

func (p *player) message(r *conversation.Request, i int) *message {
	raw := policy.Bare(r.Items[i].Of(r.Body))
	if i < len(p.previous.messages) && p.previous.messages[i].raw == string(raw) {
		return p.previous.messages[i]
	}
	if m := p.recording.byRaw[string(raw)]; m != nil {
		return m
	}
	m := p.recording.readMessage(r, i)
	m.artifacts = artifactsIn(m.Text + "\n" + m.Args)
	m.kept = p.recording.lines.keptBefore(p.recording.bounds[p.tally.requests], m)
	return m
}

// reusedTokens returns how many tokens of a request the provider has from the one before: of that one those leading
// messages count that come again unchanged, all of them or none: a change inside a message makes the whole message new.
// A change of what was sent is noted; none breaks what the provider has forgotten.
func (p *player) reusedTokens(now request, decided bool, bound int) (tokens int) {
	t := &p.tally
	if bound == 0 {
		return 0
	}
	same := 0
	if now.tools == p.previous.tools {
		tokens = now.fixed
		for same < min(len(now.messages), len(p.previous.messages)) && now.messages[same] == p.previous.messages[same] {
			tokens += now.messages[same].Tokens
			same++
		}
	}
	if same == len(p.previous.messages) {
		return tokens
	}
	if cold, _ := p.cacheState(bound); !cold {
		t.breaks++
	}
	if decided {
		p.track.decisions = append(p.track.decisions, bound+1)
		return tokens
	}
	t.unrecorded++
	p.fault(bound, fmt.Errorf("message %d changed without a decision", same))
	return tokens
}

// warmest is from how many tokens on a request is hot in any window, however large.
const warmest = 100_000

// recall counts which needs of the answer the request meets, and how much of what the user said it still holds. A
// request over the window meets none, though nothing need have been taken out of it.
func (p *player) recall(bound int, now request) {
	over, hot := now.tokens > p.window, 2*p.tally.rawNow > min(p.window, 2*warmest)
	var r recalled
	for _, n := range p.recording.needs[bound] {
		in := p.meets(n, bound, now)
		r.count(n, in, over)
		if !n.line && in != inContext {
			back := p.reader.holds(n.mention.Text, now.artifacts)
			if p.miss(n, bound, back); back && !over {
				p.reader.want(n.mention.Text)
			}
		}
	}
	t := &p.tally
	t.all.add(r.all)
	if !hot {
		return
	}
	t.hot.add(r)
	t.user.add(p.userText(bound, now, over))
}

// miss notes a need that the request lacks; back tells whether it can be fetched.
func (p *player) miss(n need, bound int, back bool) {
	p.tally.misses++
	if back {
		p.tally.back++
	}
	if len(p.misses) < p.mostMisses {
		p.misses = append(p.misses, figures.Miss{
			Window: p.window, Policy: p.policy, Conversation: p.recording.name, Request: bound + 1,
			Name: n.mention.Text, Age: n.age, Retrievable: back,
		})
	}
}

// meets reports how a request meets a need. A line of an edit is met wherever its text stands.
func (p *player) meets(n need, bound int, now request) presence {
	for _, i := range slices.Backward(n.mention.at) {
		if i < p.recording.bounds[bound] && p.sentIn[p.recording.messages[i].origin] == p.tally.requests {
			return inContext
		}
	}
	there := absent
	for _, m := range now.made {
		switch {
		case !m.holds(n.mention.Name):
		case n.line || n.mention.In(m.kept):
			return inContext
		default:
			there = bare
		}
	}
	return there
}

// userText returns how much of the user's text stands in the request word for word, in tokens. What the user said twice
// has to stand there twice, unless the shaper's own messages quote it.
func (p *player) userText(bound int, now request, over bool) share {
	var s share
	copies := make(map[*message]int)
	for _, m := range now.messages {
		copies[m]++
	}
	for _, m := range p.recording.messages[:p.recording.bounds[bound]] {
		if m.role != conversation.User {
			continue
		}
		s.of += m.Tokens
		copies[m]--
		if !over && (copies[m] >= 0 || quoted(m.Text, now.made)) {
			s.met += m.Tokens
		}
	}
	return s
}

// quoted reports whether one of the messages holds the text.
func quoted(text string, in []*message) bool {
	return slices.ContainsFunc(in, func(m *message) bool { return strings.Contains(m.Text, text) })
}
