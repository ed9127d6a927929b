package replay

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"epitome/config"
	"epitome/daemon"
	"epitome/dialect/chat"
	"epitome/event"
	"epitome/internal/unit"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
	"epitome/window"
)

// ownPolicy shapes as a running epitome with the configuration does, with a store and artifacts of its own in memory,
// whose address at says. Where a model is asked for summaries, a stand-in answers.
func ownPolicy(conf config.Config, at offload.Options) policy {
	limits := summarize.DefaultLimits()
	limits.Wait, limits.Timeout = time.Hour, time.Hour // the speed of the machine makes no difference
	conf.Summarize.Limits = &limits
	return policy{"epitome, " + conf.Rewrite.Preset, func(s *session, size int) (shaper, error) {
		const maxBytes = 256 << 20
		facts := store.NewMemory(maxBytes)
		at.Secret, at.Quota, at.Keep = []byte("replay"), maxBytes, time.Hour
		artifacts, err := offload.OpenMemory(at)
		if err != nil {
			return nil, err
		}
		all := unit.Tokens(size)
		windows := window.New(window.Config{Default: all, Models: map[string]unit.Tokens{"*": all}}, nil, time.Now)
		e := &epitome{session: s, conf: conf, window: size, artifacts: artifacts}
		e.Summarizer = summarize.New(conf.Summarize, summarize.Deps{
			Store: facts, Keep: time.Hour, Send: e.answer, Count: tokenize.CountString, Overflow: window.TooLong,
			Dialect:  chat.Dialect{},
			Usable:   func(string, string) int { return window.Usable(size, 0) },
			Prepares: func(string) bool { return conf.Summarize.Prepare != summarize.PrepareOff },
			Tell:     func(event.Summary) {}, Log: slog.New(slog.DiscardHandler),
		})
		deps := daemon.Deps(facts, artifacts, windows, time.Hour)
		deps.Summarizer, deps.Memo = e, s.scale.Memo
		e.shaper = rewrite.NewShaper(deps)
		return e.shape, nil
	}}
}

// epitome shapes the requests of one session.
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

// Ask has the stand-in for a model answer a question.
func (e *epitome) Ask(ctx context.Context, q summarize.Question) (summarize.Prose, error) {
	e.file, _, _ = strings.Cut(q.Written, "\n")
	return e.Summarizer.Ask(ctx, q)
}

func (e *epitome) shape(original *request) (shaped, error) {
	in := rewrite.Input{Dialect: original.Dialect, Body: original.Body, Upstream: "replay", Limits: &e.conf.Rewrite,
		SummaryMode: e.conf.Summarize.Mode, SummaryDetail: e.conf.Summarize.Detail,
		Compact: e.session.once, Client: context.Background(), Credential: func() any { return nil }}
	out := e.shaper.Shape(in)
	broke, compacted := out.Report.Broke, out.Report.Compacted
	out = e.rescue(in, out)
	for _, q := range e.ahead {
		_, _ = e.Ask(context.Background(), q) // without an answer there is no summary
	}
	s := shaped{out.Body, broke || out.Report.Broke, e.asked, e.artifacts.Get, compacted+out.Report.Compacted > 0,
		out.Report.TokensAfter.Total()}
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

var (
	heading = regexp.MustCompile(`(?m)^## .+\n`)
	length  = regexp.MustCompile(`about ([0-9]{1,9}) tokens`)
)

// answer answers a request for a summary in the place of a model, with the headings and the length that are asked for.
// Nobody knows what a model would say, so the answer says nothing that the agent could need, but e.file.
func (e *epitome) answer(_ context.Context, r summarize.Request) (summarize.Response, error) {
	messages := gjson.GetBytes(r.Body, "messages").Array()
	instruction := messages[len(messages)-1].Get("content").String()
	form := instruction[max(0, strings.LastIndex(instruction, "\nWrite plain text ")):]
	headings, asks := heading.FindAllString(form, -1), length.FindStringSubmatch(form)
	if asks == nil {
		return summarize.Response{}, errors.New("cannot stand in for a model: the request names no length")
	}
	tokens, _ := strconv.Atoi(asks[1]) // it has few digits
	text := ""
	for n := tokens / max(1, len(headings)); n > 0; n-- {
		filler := strings.Repeat("And so on. ", n) + "\n\n"
		if text = strings.Join(headings, filler) + filler + e.file; tokenize.CountString(text) <= tokens {
			break
		}
	}
	e.asked = append(e.asked, asked{bytes.Clone(r.Body), e.session.modelTokens(tokenize.CountString(text))})
	body, err := sjson.SetBytes([]byte(`{"choices":[{"message":{"role":"assistant"},"finish_reason":"stop"}]}`),
		"choices.0.message.content", text)
	return summarize.Response{Status: 200, Body: body}, err
}
