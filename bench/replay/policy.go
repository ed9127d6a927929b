package replay

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"epitome/config"
	"epitome/daemon"
	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/jsonspan"
	"epitome/internal/unit"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
	"epitome/window"
)

// policy is a way of shaping requests. open begins a session with a window of so many tokens.
type policy struct {
	name string
	open func(s *session, window int) shaper
}

// shaper returns what is sent in the place of a request. The requests are those of one session, in order. After an
// error the request counts as invalid.
type shaper func(original *request) (shaped, error)

// shaped is what is sent in the place of a request.
type shaped struct {
	body     []byte
	asked    []asked                           // the policy's own requests to a model since the request before
	artifact func(name string) ([]byte, error) // returns the text that was taken out under a name; nil: there is none
}

// asked is a request of a policy to a model, and the tokens of the answer.
type asked struct {
	body   []byte
	output int
}

// epitome shapes the requests of one session as a running epitome with the configuration does, with a store and
// artifacts of its own in memory. Where a model is asked for summaries, a stand-in answers.
type epitome struct {
	*summarize.Summarizer
	session   *session
	conf      config.Config
	window    int
	shaper    *rewrite.Shaper
	artifacts *offload.Shelf
	ahead     []summarize.Question // to be answered before the next request
	asked     []asked
	file      string // that an answer has to name
}

// ownPolicy returns the policy of an epitome with artifacts whose address at says.
func ownPolicy(conf config.Config, at offload.Options) policy {
	conf.Summarize.Wait = time.Hour // the speed of the machine makes no difference
	return policy{"epitome, " + conf.Rewrite.Preset, func(s *session, size int) shaper {
		const maxBytes = 256 << 20
		at.Secret, at.Quota, at.Keep = []byte("replay"), maxBytes, time.Hour
		artifacts := offload.OpenMemory(at)
		facts, all := store.NewMemory(maxBytes), unit.Tokens(size)
		windows := window.New(window.Config{Default: all, Models: map[string]unit.Tokens{"*": all}}, nil, time.Now)
		e := &epitome{session: s, conf: conf, window: size, artifacts: artifacts}
		e.Summarizer = summarize.New(conf.Summarize, summarize.Deps{
			Store: facts, Keep: time.Hour, Send: e.answer, Count: tokenize.CountString, Overflow: window.TooLong,
			Dialect:  chat.Dialect{},
			Usable:   func(string, string) int { return window.Usable(size, 0) },
			Prepares: func(string) bool { return conf.Summarize.Prepare != "off" },
			Tell:     func(event.Summary) {}, Log: slog.New(slog.DiscardHandler),
		})
		deps := daemon.Deps(facts, artifacts, windows, time.Hour)
		deps.Summarizer, deps.Memo = e, s.scale.Memo
		e.shaper = rewrite.NewShaper(deps)
		return e.shape
	}}
}

func (e *epitome) shape(original *request) (shaped, error) {
	in := rewrite.Input{Dialect: original.Dialect, Body: original.Body, Upstream: "replay", Limits: &e.conf.Rewrite,
		Summary: e.conf.Summarize, Compact: e.session.once, Client: context.Background(),
		Credential: func() any { return nil }}
	out := e.rescue(in, e.shaper.Shape(in))
	for _, q := range e.ahead {
		_, _ = e.Ask(context.Background(), q) // without an answer there is no summary
	}
	s := shaped{body: out.Body, asked: e.asked, artifact: e.artifacts.Get}
	e.ahead, e.asked = nil, nil
	return s, out.Report.Err
}

// rescue sends a request again that is larger than the window, as the proxy does when the provider refuses it. It
// returns the first form that fits, or out if none does.
func (e *epitome) rescue(in rewrite.Input, out rewrite.Output) rewrite.Output {
	r := rewrite.NewRescue(in, out, e.shaper.Shape)
	for r.Last.Report.TokensAfter.Total() > e.window {
		if !r.Next(window.Refusal{Cause: window.Input, Limit: e.window}) {
			return out
		}
	}
	if r.Last.Settle != nil {
		r.Last.Settle()
	}
	return r.Last
}

// Prepare has a question answered before the next request, so that equal sessions have equal figures.
func (e *epitome) Prepare(q summarize.Question) { e.ahead = append(e.ahead, q) }

// Ask has the stand-in for a model answer a question.
func (e *epitome) Ask(ctx context.Context, q summarize.Question) (summarize.Prose, error) {
	e.file, _, _ = strings.Cut(q.Written, "\n")
	return e.Summarizer.Ask(ctx, q)
}

var (
	heading = regexp.MustCompile(`(?m)^## .+\n`)
	length  = regexp.MustCompile(`about ([0-9]{1,9}) tokens`)
)

// answer answers a request for a summary in the place of a model, with the headings and the length that are asked for.
// Nobody knows what a model would say, so the answer says nothing that the agent could need, but e.file.
func (e *epitome) answer(_ context.Context, _ summarize.Model, request []byte) (status int, said []byte,
	_ time.Duration, err error) {
	instruction := gjson.GetBytes(request, "messages.@reverse.0.content").String()
	form := instruction[max(0, strings.LastIndex(instruction, "\nWrite plain text ")):]
	headings, asks := heading.FindAllString(form, -1), length.FindStringSubmatch(form)
	if asks == nil {
		return 0, nil, 0, errors.New("cannot stand in for a model: the request names no length")
	}
	most, _ := strconv.Atoi(asks[1]) // it has few digits
	text, tokens := "", most+1
	for n := most / max(1, len(headings)); n > 0 && tokens > most; n-- {
		filler := strings.Repeat("And so on. ", n) + "\n\n"
		text = strings.Join(headings, filler) + filler + e.file
		tokens = tokenize.CountString(text)
	}
	e.asked = append(e.asked, asked{bytes.Clone(request), e.session.modelTokens(tokens)})
	said, err = sjson.SetBytes([]byte(`{"choices":[{"message":{"role":"assistant"},"finish_reason":"stop"}]}`),
		"choices.0.message.content", text)
	return 200, said, 0, err
}

// baselines are the ways of keeping a conversation small that epitome is compared with.
var baselines = []policy{
	baseline("send everything", func(*kept) {}),
	baseline("truncate oldest to 50 %", dropOldest),
	baseline("clear all but three at 50 %", clearResults),
}

// kept is what a baseline has left of a request so far.
type kept struct {
	*session
	*request            // of the client
	sent     []*message // by item: the client's message, stub in the place of its content, or nil if it is left out
	stub     *message
	tokens   int // of what is left
	window   int
}

// baseline returns a policy that sends what shrink leaves of a request. Messages that it has once left out or replaced
// stay so.
func baseline(name string, shrink func(k *kept)) policy {
	return policy{name, func(s *session, window int) shaper {
		const text = "[Old tool result content cleared]"
		size := tokenize.PerMessage + 1 + tokenize.PerResult + tokenize.CountString(text)
		k := kept{session: s, window: window, stub: &message{text: text, tokens: s.modelTokens(size)}}
		return func(original *request) (shaped, error) {
			k.request, k.tokens = original, original.fixed
			k.sent = append(k.sent, original.messages[len(k.sent):]...)
			for _, m := range k.sent {
				if m != nil {
					k.tokens += m.tokens
				}
			}
			shrink(&k)
			body, err := k.body()
			return shaped{body: body}, err
		}
	}}
}

// body returns the client's request without the messages that are left out, and with stubs.
func (k *kept) body() ([]byte, error) {
	var drops []conversation.Drop
	var stubs []jsonspan.Edit
	for i, m := range k.sent {
		switch m {
		case nil:
			drops = append(drops, conversation.Drop{First: i, Count: 1})
		case k.stub:
			stubs = append(stubs, k.ReplaceContent(&k.Items[i], m.text)...)
		}
	}
	edits, err := conversation.DropItems(k.Request, drops)
	if err != nil {
		return nil, err
	}
	return jsonspan.Splice(k.Body, append(edits, stubs...), nil)
}

// dropOldest leaves out the oldest messages behind the user's first one, with the results of their calls, down to half
// of the window whenever the request has more than 95 % of it.
func dropOldest(k *kept) {
	if k.tokens*100 <= k.window*95 && !k.once {
		return
	}
	isUser := func(m *message) bool { return m != nil && m.role == conversation.User }
	first := 1 + max(0, slices.IndexFunc(k.messages[:min(6, len(k.messages))], isUser))
	k.drop(first, k.window/2)
}

// drop leaves out messages from one on, with the results of their calls, until so many tokens are left. Messages of the
// system stay.
func (k *kept) drop(first, most int) {
	for i := first; i < len(k.sent); i++ {
		it, m := &k.Items[i], k.sent[i]
		isGroup := it.Role != conversation.Tool && (it.Role != conversation.Assistant || it.StartsAnswer)
		if k.tokens <= most && isGroup {
			return
		}
		if m != nil && it.Role != conversation.System {
			k.tokens -= m.tokens
			k.sent[i] = nil
		}
	}
}

// clearResults replaces all results of tools but the newest three whenever the request has more than half of the
// window.
func clearResults(k *kept) {
	if k.tokens*2 <= k.window && !k.once {
		return
	}
	newer := 0
	for i, m := range slices.Backward(k.sent) {
		if k.Items[i].Role != conversation.Tool {
			continue
		}
		newer++
		if newer > 3 && m != nil && k.stub.tokens < m.tokens {
			k.sent[i] = k.stub
		}
	}
}
