package subject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"epitome/bench/policy"
	"epitome/event"
	"epitome/internal/lazyregexp"
	"epitome/store"
	"epitome/summarize"
	"epitome/window"
)

// narrator is the summariser of one replayed conversation: the one that serves, with a stand-in for the model. All
// that is asked with a request is answered before the next one comes, so that one input has one outcome.
type narrator struct {
	*summarize.Summarizer
	prepare string // how summaries are prepared, as configured
	model   *standIn
	ahead   []summarize.Question // to be answered once the request is shaped
}

// newNarrator makes one by the configuration. What was told lies with the conversation's facts.
func newNarrator(conf summarize.Config, facts store.Store, windows *window.Windows, model *standIn) *narrator {
	limits := summarize.DefaultLimits()
	limits.Wait, limits.Timeout = time.Hour, time.Hour // a busy machine makes no difference
	conf.Limits = &limits
	n := &narrator{prepare: conf.Prepare, model: model}
	n.Summarizer = summarize.New(conf, summarize.Deps{
		Store: facts, Keep: time.Hour, Send: n.model.send,
		Dialects: map[string]summarize.Dialect{model.Name(): model},
		Overflow: window.TooLong, Count: model.count,
		Usable: func(upstream, model string) int { return window.Usable(windows.Of(upstream, model).Tokens, 0) },
		Tell:   func(event.Summary) {}, Log: slog.New(slog.DiscardHandler),
	})
	return n
}

// Prepares is what it is for an upstream that is not on this machine.
func (n *narrator) Prepares(string) bool {
	return n.prepare != summarize.PrepareOff
}

// Prepare has the question answered before the next request.
func (n *narrator) Prepare(q summarize.Question) { n.ahead = append(n.ahead, q) }

// answerAhead answers what is to be ready for the next request, and returns all that was asked since the one before.
// sent is what the provider has got now.
func (n *narrator) answerAhead(sent []byte) ([]policy.Asking, error) {
	for _, q := range n.ahead {
		_, _ = n.Ask(context.Background(), q) // a summary that cannot be made is none
	}
	asked, err := n.model.asked, n.model.err
	n.ahead, n.model.asked, n.model.before = nil, nil, bytes.Clone(sent)
	return asked, err
}

// Credential is nothing: who waits for a replayed request has none.
func (n *narrator) Credential() any { return nil }

// Context never ends: nobody leaves a replay.
func (n *narrator) Context() context.Context { return context.Background() }

// Waits does the step: nobody else's request is shaped meanwhile.
func (n *narrator) Waits(step func()) { step() }

// standIn answers in a model's place. What a model would say of a conversation is not known, so it says nothing that
// an answer could need: its text has the headings and the length that it was asked for, and its price. One question
// is answered at a time.
type standIn struct {
	Dialect
	unit   policy.Unit
	count  func(text string) int
	told   string // the instruction at hand
	before []byte // the conversation's request before, as it was sent
	asked  []policy.Asking
	err    error // the first one; nothing more can be priced
}

// Continue notes the instruction.
func (s *standIn) Continue(body []byte, instruction string, f summarize.Form) ([]byte, error) {
	s.told = instruction
	return s.Dialect.Continue(body, instruction, f)
}

// Prompt notes the instruction.
func (s *standIn) Prompt(model, system, user string, f summarize.Form) []byte {
	s.told = user
	return s.Dialect.Prompt(model, system, user, f)
}

// ReadAnswer takes an answer as it is.
func (s *standIn) ReadAnswer(body io.Reader) (summarize.Answer, error) {
	text, err := io.ReadAll(body)
	return summarize.Answer{Text: string(text)}, err
}

// send answers a request, and notes what it costs.
func (s *standIn) send(_ context.Context, r summarize.Request) (summarize.Response, error) {
	text, err := s.prose()
	if err == nil {
		var a policy.Asking
		a, err = policy.NewAsking(s.unit,
			policy.Exchange{Dialect: s.Dialect, Before: s.before, Request: r.Body, Answer: text})
		s.asked = append(s.asked, a)
	}
	if s.err == nil {
		s.err = err
	}
	return summarize.Response{Status: 200, Body: io.NopCloser(strings.NewReader(text))}, nil
}

var (
	wantedTokens  = lazyregexp.New(`about ([0-9]+) tokens`)
	wantedHeading = lazyregexp.New(`(?m)^## .+\n`)
)

// prose is a text of the form that the instruction ends with.
func (s *standIn) prose() (string, error) {
	at := strings.LastIndex(s.told, "\nWrite plain text ") // before it may stand what a conversation says
	if at < 0 {
		return "", errors.New("cannot stand in for a model: the instruction names no form")
	}
	form := s.told[at:]
	wanted := wantedTokens().FindStringSubmatch(form)
	var headings []string
	for _, h := range wantedHeading().FindAllStringSubmatchIndex(form, -1) {
		headings = append(headings, form[h[0]:h[1]])
	}
	if len(headings) == 0 && strings.Contains(form, "without headings") { // a distillate
		headings = []string{""}
	}
	if wanted == nil || len(headings) == 0 {
		return "", fmt.Errorf("cannot stand in for a model in the form %q", form)
	}
	tokens, err := strconv.Atoi(wanted[1])
	if err != nil {
		return "", fmt.Errorf("cannot stand in for a model with %s tokens: %w", wanted[1], err)
	}
	const phrase = "And so on. " // of two tokens at the least
	for n := tokens / 2 / len(headings); ; n-- {
		said := strings.Repeat(phrase, max(n, 1)) + "\n\n"
		if text := strings.Join(headings, said) + said; n <= 1 || s.count(text) <= tokens {
			return text, nil
		}
	}
}
