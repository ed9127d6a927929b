package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"epitome/cli/daemon"
	"epitome/config"
	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/window"
)

// trial shapes a request as epitome would that has decided nothing yet. It asks no model, and writes nothing that
// stays.
type trial struct {
	conf     config.Config
	body     []byte
	dialect  daemon.Dialect
	assumed  bool // nothing in the body shows the dialect
	request  *conversation.Request
	upstream string
	windows  *window.Windows
	shaper   *rewrite.Shaper
	cleanup  func()
}

// newTrial reads the request. folder is the data folder, whose secret gives artifacts their names; upstream is where
// the request goes by the command line, empty if that does not name it.
func newTrial(conf config.Config, folder string, body []byte, flags explainFlags, upstream string) (*trial, error) {
	dialect, sure, err := daemon.DialectOf(flags.dialect, body)
	if err != nil {
		return nil, err
	}
	request, err := dialect.Read(body, nil)
	if err != nil {
		return nil, err
	}
	windows := conf.Window
	if flags.window != "" {
		tokens, err := config.ParseWindow(flags.window)
		if err != nil {
			return nil, err
		}
		all := unit.Tokens(tokens)
		windows = window.Config{Default: all, Models: map[string]unit.Tokens{"*": all}}
	}
	t := &trial{conf: conf, body: body, dialect: dialect, assumed: !sure, request: request,
		upstream: upstreamOf(conf, dialect.Name(), request.Model, upstream),
		windows:  window.New(windows, nil, time.Now), cleanup: func() {}}
	if _, err := os.Stat(filepath.Join(folder, daemon.StoreFolder)); err != nil { // nothing is to be made in it
		if folder, err = os.MkdirTemp("", "epitome-explain-"); err != nil {
			return nil, fmt.Errorf("cannot make a temporary folder: %w", err)
		}
		t.cleanup = func() { _ = os.RemoveAll(folder) }
	}
	deps, err := daemon.Unwritten(conf, folder, t.windows)
	if err != nil {
		t.cleanup()
		return nil, err
	}
	t.shaper = rewrite.NewShaper(deps)
	return t, nil
}

// upstreamOf returns the upstream that a request would go to: by its route, by the command line, or by the path that
// clients of the dialect are told to use.
func upstreamOf(conf config.Config, dialect, model, named string) string {
	for _, r := range conf.Routes {
		if unit.Match(r.Model, model) {
			return r.Upstream
		}
	}
	if _, ok := conf.Upstreams["anthropic"]; ok && named == "" && dialect == "messages" {
		return "anthropic"
	}
	return conf.Upstream
}

// shape shapes one request of the conversation.
func (t *trial) shape(body []byte) rewrite.Output {
	return t.shaper.Shape(rewrite.Input{Dialect: t.dialect, Body: body, Upstream: t.upstream, Limits: &t.conf.Rewrite,
		SummaryMode: t.conf.Summarize.Mode, Contexts: t.conf.ContextsFor(t.upstream),
		Project: t.conf.Upstreams[t.upstream].Project})
}

// explain shapes the request, and with turns those before it. Its error says why the request is no conversation.
func (t *trial) explain(turns bool) (*report, error) {
	r := &report{Dialect: t.dialect.Name(), Assumed: t.assumed, Upstream: t.upstream, Mode: t.conf.Mode,
		Preset: t.conf.Rewrite.Preset, Changes: []change{}}
	r.Messages, r.Groups = t.request.MessagesIn(0, len(t.request.Items)), len(t.request.Groups())
	if turns {
		r.Turns = t.turns()
	}
	out := t.shape(t.body)
	r.Shaping, r.Action, r.Added = out.Report.Shaping, out.Report.Action, out.Report.Added
	r.Err, r.body = out.Report.Err, out.Body
	r.WindowFrom = string(t.windows.Of(t.upstream, t.request.Model).Source)
	r.Limits = t.conf.Rewrite.EffectiveAt(r.Window, int(r.Usable), 1)
	for _, c := range out.Changes() {
		r.Changes = append(r.Changes, newChange(c))
	}
	if r.Messages == 0 {
		return nil, errors.New(r.Reason)
	}
	return r, nil
}

// turns shapes the requests before the last one: wherever the assistant answered, one had been sent.
func (t *trial) turns() []turn {
	list := []turn{}
	items := t.request.Items
	if len(items) == 0 {
		return list
	}
	end := items[len(items)-1].Place().End
	for i := max(t.request.Lead, 1); i < len(items); i++ {
		if items[i].Role != conversation.Assistant || items[i-1].Role == conversation.Assistant {
			continue
		}
		later := jsonspan.Span{Start: items[i-1].Place().End, End: end}
		body, err := jsonspan.Splice(t.body, []jsonspan.Edit{{Span: later}})
		if err != nil {
			continue // the spans of a request that was read do not overlap
		}
		out := t.shape(body)
		turn := turn{Messages: t.request.MessagesIn(0, i), Before: out.Report.TokensBefore.Total(),
			After: out.Report.TokensAfter.Total(), Changes: []change{}, Reason: out.Report.Reason}
		for _, c := range out.Changes() {
			if c.New {
				turn.Changes = append(turn.Changes, newChange(c))
			}
		}
		list = append(list, turn)
	}
	return list
}
