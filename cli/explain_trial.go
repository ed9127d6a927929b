package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"epitome/cli/agent"
	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/instance"
	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/window"
)

// trial shapes a request as epitome would, asks no model, and writes nothing that stays.
type trial struct {
	conf     config.Config
	body     []byte
	dialect  daemon.Dialect
	request  *conversation.Request // nil if it cannot be read
	unread   error                 // why
	assumed  bool                  // nothing in the body shows the dialect
	upstream string
	windows  *window.Windows
	shaper   *rewrite.Shaper
	known    string // what of the conversation was known before, in words
	note     string // to be read first; empty for nothing
	closers  []func()
}

// newTrial reads the request. upstream is where it goes by the command line; empty if that does not name it.
func newTrial(conf config.Config, body []byte, flags explainFlags, upstream string) (*trial, error) {
	t := &trial{conf: conf, body: body}
	dialect, sure, err := daemon.DialectOf(flags.dialect, body)
	if err != nil {
		return nil, err
	}
	t.dialect, t.assumed = dialect, !sure
	if t.request, t.unread = dialect.Read(body, nil); t.unread == nil {
		t.upstream = upstreamOf(conf, dialect.Name(), t.request.Model, upstream)
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
	t.windows = window.New(windows, nil, time.Now)
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

// close ends what open has opened.
func (t *trial) close() {
	for _, end := range t.closers {
		end()
	}
}

// open looks for what is known of the conversation in the data folder and in those below it that "epitome run" makes.
// fresh begins with nothing known instead.
func (t *trial) open(home string, fresh bool) error {
	switch {
	case fresh:
		return t.begin(home, "the conversation is played from its beginning")
	case t.unread != nil:
		return t.begin(home, "it is no conversation")
	case t.conf.Scope != "shared" && !(t.conf.Scope == "auto" && console.Loopback(t.conf.Listen)):
		return t.begin(home, "decisions belong to a credential or a header, which this request does not come with")
	}
	runUpstream := agent.RunOpenAI
	if t.dialect.Name() == "messages" {
		runUpstream = agent.RunAnthropic
	}
	for i, folder := range instance.FoldersIn(home) {
		if t.find(folder, t.upstream) || i > 0 && t.find(folder, runUpstream) {
			return nil
		}
	}
	if cards := instance.RunningIn(instance.FoldersIn(home)...); len(cards) > 0 {
		t.note = "The epitome on " + cards[0].Listen + " holds what was decided. This is what would be done to a conversation " +
			"never seen; 'epitome explain ID' shows what was done."
		return t.begin(home, "a running epitome holds what was decided")
	}
	return t.begin(home, "no decision was made for it here")
}

// find reports whether decisions for the conversation lie in a folder, for an upstream, and takes them up if so.
func (t *trial) find(folder, upstream string) bool {
	left, err := daemon.OpenLeft(t.conf, folder)
	if err != nil { // there is none, or an epitome holds it
		return false
	}
	before := t.upstream
	t.upstream, t.shaper = upstream, rewrite.NewShaper(left.Shadow(t.conf, t.windows))
	if t.shape(t.body).Report.Repeated == 0 {
		t.upstream = before
		_ = left.Close()
		return false
	}
	t.shaper = rewrite.NewShaper(left.Shadow(t.conf, t.windows)) // to shape is to remember
	t.known = "what was decided in " + folder
	t.closers = append(t.closers, func() { _ = left.Close() })
	return true
}

// begin starts with nothing decided, and why. Artifacts get the names that the folder's secret gives them.
func (t *trial) begin(folder, why string) error {
	t.known = "nothing: " + why
	if _, err := os.Stat(filepath.Join(folder, daemon.StoreFolder)); err != nil {
		if err := config.CheckFormat(folder); err != nil {
			return err
		}
		if folder, err = os.MkdirTemp("", "epitome-explain-"); err != nil {
			return fmt.Errorf("cannot make a temporary folder: %w", err)
		}
		t.closers = append(t.closers, func() { _ = os.RemoveAll(folder) })
	}
	deps, err := daemon.Unwritten(t.conf, folder, t.windows)
	if err == nil {
		t.shaper = rewrite.NewShaper(deps)
	}
	return err
}

// shape shapes one request of the conversation.
func (t *trial) shape(body []byte) rewrite.Output {
	return t.shaper.Shape(rewrite.Input{Dialect: t.dialect, Body: body, Upstream: t.upstream, Limits: &t.conf.Rewrite,
		SummaryMode: t.conf.Summarize.Mode, Contexts: t.conf.ContextsFor(t.upstream), Project: t.conf.Upstreams[t.upstream].Project})
}

// explain shapes the request, and with turns those before it. Its error says why the request is no conversation; the
// report has its body all the same.
func (t *trial) explain(turns bool) (*report, error) {
	r := &report{Dialect: t.dialect.Name(), Assumed: t.assumed, Upstream: t.upstream, Mode: t.conf.Mode,
		Preset: t.conf.Rewrite.Preset, Known: t.known, Note: t.note, Changes: []change{}, body: t.body}
	if t.unread != nil {
		return r, t.unread
	}
	r.Messages, r.Groups = t.request.MessagesIn(0, len(t.request.Items)), len(t.request.Groups())
	if turns {
		r.Turns = t.turns()
	}
	out := t.shape(t.body)
	r.Shaping, r.Action, r.Repeated, r.Added, r.body = out.Report.Shaping, out.Report.Action, out.Report.Repeated, out.Report.Added, out.Body
	r.WindowFrom = cmp.Or(string(t.windows.Of(t.upstream, t.request.Model).Source), "default")
	r.Limits = t.conf.Rewrite.EffectiveAt(r.Window, int(r.Usable), 1)
	r.Err = out.Report.Err
	for _, c := range out.Changes() {
		r.Changes = append(r.Changes, newChange(c))
	}
	if r.Messages == 0 {
		return r, errors.New(r.Reason)
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
