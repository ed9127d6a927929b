package summarize

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/fakeapi"
	"epitome/store"
)

const secret = "Bearer sk-very-secret"

// plain returns a configuration like the one that is built in.
func plain() Config {
	return Config{Mode: "auto", Prepare: "auto"}
}

// good returns an answer as it should be.
func good(about string) string {
	var b strings.Builder
	for _, h := range headings() {
		fmt.Fprintf(&b, "## %s\n%s of %s\n", h, strings.ToLower(h), about)
	}
	return b.String()
}

// question is one about a conversation of its own.
func question(key string) Question {
	return Question{
		Key: key, Conversation: "c " + key, Model: Model{Upstream: "up", Name: "own", Dialect: tongue{}, Credential: secret, Usable: 1 << 20},
		Continue: []byte("the conversation of " + key),
		Transcript: []Entry{
			{Speaker: "user", Text: "please fix " + key},
			{Speaker: "call bash", IsTool: true, Text: `{"command":"make"}`},
			{Speaker: "result bash, exit code 2", IsTool: true,
				Text: "make: *** [all] Error 2"},
		},
		SpanTokens: 10_000, Room: 2_000,
	}
}

// sent is a request as the test's dialect makes it.
type sent struct {
	Way, Model, System, Ask string
	Conversation            string
	Form                    answer.Form
	asked                   Model
}

// tongue is a dialect for tests: requests and answers are plain JSON.
type tongue struct{ conversation.Dialect }

func (tongue) API() *conversation.API {
	return &conversation.API{Path: "/v1/say", Headers: [][2]string{{"Authorization", "Bearer "}},
		PromptForm: `{"Way":"` + WayTranscript + `","Model":%s,"System":%s}`}
}

func (tongue) Continue(body []byte, instruction string, f answer.Form) ([]byte, error) {
	if string(body) == "broken" {
		return nil, errors.New("it is broken")
	}
	var s sent
	if json.Unmarshal(body, &s) != nil { // it is no PromptForm
		s = sent{Way: WayContinue, Conversation: string(body)}
	}
	s.Ask, s.Form = instruction, f
	return json.Marshal(s)
}

func (tongue) Step(string, gjson.Result) answer.Step { return answer.SaidStep }

func (tongue) Add(a *answer.Partial, v gjson.Result) {
	_ = json.Unmarshal([]byte(v.Raw), &a.Answer)
	a.Said.WriteString(a.Text)
}

func (tongue) Usage(text []byte) (u event.Usage, input int) {
	var a answer.Answer
	_ = json.Unmarshal(text, &a)
	return event.Usage{Input: a.Input, Read: a.Cached, Write5m: a.Written, Output: a.Output}, a.Input
}

// step is what the upstream does with a request.
type step func(ctx context.Context, r sent) (int, []byte, error)

func says(a answer.Answer) step {
	return func(context.Context, sent) (int, []byte, error) {
		b, err := json.Marshal(a)
		return 200, b, err
	}
}

func text(t string) step { return says(answer.Answer{Text: t, Input: 1000, Cached: 900, Output: 50}) }

func raw(status int, body string) step {
	return func(context.Context, sent) (int, []byte, error) {
		return status, []byte(body), nil
	}
}

func breaks(context.Context, sent) (int, []byte, error) {
	return 0, nil, errors.New("dial " + secret + ": refused")
}

// silent answers nothing for as long as anyone waits.
func silent(ctx context.Context, _ sent) (int, []byte, error) {
	<-ctx.Done()
	return 0, nil, ctx.Err()
}

// takes answers after d.
func takes(d time.Duration, then step) step {
	return func(ctx context.Context, r sent) (int, []byte, error) {
		select {
		case <-time.After(d):
			return then(ctx, r)
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

// rig is a Summarizer over a scripted upstream.
type rig struct {
	*Summarizer
	t     testing.TB
	store store.Store
	log   fakeapi.Log

	mu     sync.Mutex
	steps  []step        // the last one is repeated
	wait   time.Duration // that each answer asks for
	sent   []sent
	events []event.Summary
}

func (r *rig) send(ctx context.Context, m Model, body []byte) (int, []byte, time.Duration, error) {
	var s sent
	if err := json.Unmarshal(body, &s); err != nil {
		r.t.Errorf("the request is %q: %v", body, err)
	}
	s.asked = m
	r.mu.Lock()
	r.sent = append(r.sent, s)
	do := r.steps[min(len(r.sent), len(r.steps))-1]
	r.mu.Unlock()
	status, answer, err := do(ctx, s)
	return status, answer, r.wait, err
}

// plays sets what comes next.
func (r *rig) plays(steps ...step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(slices.Repeat([]step{steps[0]}, len(r.sent)), steps...)
}

func (r *rig) requests() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]sent(nil), r.sent...)
}

func (r *rig) told() []event.Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]event.Summary(nil), r.events...)
}

func rigged(t testing.TB, c Config, steps ...step) *rig {
	return over(t, store.NewMemory(64<<20), c, steps...)
}

func over(t testing.TB, s store.Store, c Config, steps ...step) *rig {
	t.Helper()
	r := &rig{t: t, store: s, steps: steps}
	r.Summarizer = New(c, Deps{
		Store: s, Keep: 720 * time.Hour, Send: r.send,
		Dialect:  tongue{},
		Overflow: func(_ int, body []byte) bool { return bytes.Contains(body, []byte("too long")) },
		Count:    func(text string) int { return len(text) / 4 },
		Usable:   func(upstream, model string) int { return 1 << 20 },
		Tell: func(e event.Summary) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
		},
		Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	})
	t.Cleanup(r.Close)
	return r
}

// answered asks q and wants prose.
func (r *rig) answered(q Question) Prose {
	r.t.Helper()
	p, err := r.Ask(context.Background(), q)
	if err != nil || p.Text == "" {
		r.t.Fatalf("%s: %+v, %v; want prose", q.Key, p, err)
	}
	return p
}

// fails asks q and wants the error.
func (r *rig) fails(q Question, want error, words string) {
	r.t.Helper()
	p, err := r.Ask(context.Background(), q)
	if !errors.Is(err, want) || !strings.Contains(err.Error(), words) || p.Text != "" {
		r.t.Fatalf("%s: %+v, %v; want %v that says %q", q.Key, p, err, want, words)
	}
}

// calls wants that so many requests were sent by now.
func (r *rig) calls(want int) {
	r.t.Helper()
	if got := r.requests(); len(got) != want {
		r.t.Fatalf("%d requests were sent, want %d", len(got), want)
	}
}
