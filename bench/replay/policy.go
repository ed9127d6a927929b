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
	body        []byte
	tokens      int  // of body, if the policy is epitome
	isCompacted bool // by a new decision

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
	first := e.shaper.Shape(in)
	out := e.rescue(in, first)
	for _, q := range e.ahead {
		_, _ = e.Ask(context.Background(), q) // without an answer there is no summary
	}
	s := shaped{body: out.Body, tokens: out.Report.TokensAfter.Total(), asked: e.asked, artifact: e.artifacts.Get,
		isCompacted: first.Report.Compacted+out.Report.Compacted > 0}
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
func (e *epitome) answer(_ context.Context, _ summarize.Model, request []byte) (status int, said []byte, err error) {
	instruction := gjson.GetBytes(request, "messages.@reverse.0.content").String()
	form := instruction[max(0, strings.LastIndex(instruction, "\nWrite plain text ")):]
	headings, asks := heading.FindAllString(form, -1), length.FindStringSubmatch(form)
	if asks == nil {
		return 0, nil, errors.New("cannot stand in for a model: the request names no length")
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
	return 200, said, err
}

// baselines are the ways of keeping a conversation small that epitome is compared with.
var baselines = []policy{
	baseline("send everything", func(_ *session, sent []*message, _, _ int) []*message { return sent }),
	baseline("truncate oldest to 50 %", dropOldest),
	baseline("clear all but three at 50 %", clearResults),
}

// baseline returns a policy that sends what shrink leaves of messages with so many tokens: those that it sent before,
// and the new ones of the client.
func baseline(name string, shrink func(s *session, sent []*message, tokens, window int) []*message) policy {
	return policy{name, func(s *session, window int) shaper {
		var sent []*message
		seen := 0 // messages of the client
		return func(original *request) (shaped, error) {
			sent = append(sent, original.messages[seen:]...)
			seen = len(original.messages)
			tokens := original.fixed
			for _, m := range sent {
				tokens += m.tokens
			}
			sent = shrink(s, sent, tokens, window)
			var sources []string
			for _, m := range sent {
				sources = append(sources, m.source)
			}
			body, items := string(original.Body), original.Items
			all := body[:items[0].Start] + strings.Join(sources, ",") + body[items[len(items)-1].End:]
			return shaped{body: []byte(all)}, nil
		}
	}}
}

// dropOldest leaves out the oldest messages behind the user's first one, with the results of their calls, down to half
// of the window whenever the request has more than 95 % of it. Messages of the system stay.
func dropOldest(s *session, sent []*message, tokens, window int) []*message {
	if tokens*100 <= window*95 {
		return sent
	}
	isUser := func(m *message) bool { return m.role == conversation.User }
	first := 1 + max(0, slices.IndexFunc(s.whole.messages[:min(6, len(sent))], isUser))
	kept := sent[:first:first]
	for i, m := range sent[first:] {
		if tokens*2 <= window && m.role != conversation.Tool {
			return append(kept, sent[first+i:]...)
		}
		if m.role == conversation.System {
			kept = append(kept, m)
		} else {
			tokens -= m.tokens
		}
	}
	return kept
}

// clearResults replaces all results of tools but the newest three whenever the request has more than half of the
// window.
func clearResults(s *session, sent []*message, tokens, window int) []*message {
	if tokens*2 <= window {
		return sent
	}
	newer := 0
	for i, m := range slices.Backward(sent) {
		if m.role != conversation.Tool {
			continue
		}
		newer++
		if newer <= 3 || m.place < 0 {
			continue
		}
		source, _ := sjson.Set(m.source, "content", "[Old tool result content cleared]") // of a valid object
		cleared, err := s.read([]byte(`{"messages":[`+source+`]}`), &request{}, map[string]*message{})
		if err == nil && cleared.messages[0].tokens < m.tokens {
			sent[i] = cleared.messages[0]
		}
	}
	return sent
}
