// Package trial shapes a request as epitome would, without one that runs, and explains what came of it.
//
// It promises that nothing is written but into a folder of its own, that no model is asked, and that what is known of
// the conversation is said to be known: from a store that no epitome holds, or nothing.
package trial

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"epitome/cli/explanation"
	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/instance"
	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/tokenize"
	"epitome/window"
)

// Trial is what one report is made with. It has to be closed.
type Trial struct {
	conf    config.Config
	body    []byte
	dialect daemon.Dialect
	sure    bool // the body shows the dialect, or the command line names it
	window  *window.Windows
	given   bool // the window is the command line's
	means   rewrite.Deps
	shaper  *rewrite.Shaper
	known   string   // what of the conversation is known, in words
	note    string   // what is to be read before anything else
	via     string   // the upstream's name, where the configuration's is not the one that requests went to
	ending  []func() // what is to be done at the end, the last first
}

// New is a trial of a request with a configuration.
func New(conf config.Config, body []byte, given Given) (*Trial, error) {
	t := &Trial{conf: conf, body: body}
	var err error
	if t.dialect, t.sure, err = daemon.DialectOf(given.Dialect, body); err != nil {
		return nil, err
	}
	t.via = t.pathUpstream(given.Upstream)
	if err := t.windows(given.Window); err != nil {
		return nil, err
	}
	return t, nil
}

// Given is what a command line says of a request. Each may be empty.
type Given struct {
	Dialect  string // its name
	Window   string // how much the model holds
	Upstream string // where requests go
}

// Play explains the request as the last of a conversation that is played from its beginning, with nothing known.
func (t *Trial) Play(home string) (*explanation.Report, error) {
	t.known = "nothing: the conversation is played from its beginning"
	if err := t.begin(home); err != nil {
		return nil, err
	}
	return t.report(true), nil
}

// Explain explains the request by what is known of its conversation.
func (t *Trial) Explain(home string) (*explanation.Report, error) {
	if err := t.open(home); err != nil {
		return nil, err
	}
	return t.report(false), nil
}

// Close ends it, with all that was opened for it.
func (t *Trial) Close() {
	for i := len(t.ending) - 1; i >= 0; i-- {
		t.ending[i]()
	}
}

// windows are those of the configuration, or one of the text for all models.
func (t *Trial) windows(text string) error {
	c := t.conf.Window
	if text != "" {
		tokens, err := config.ParseWindow(text)
		if err != nil {
			return err
		}
		all := unit.Tokens(tokens)
		c, t.given = window.Config{Default: all, Models: map[string]unit.Tokens{"*": all}}, true
	}
	t.window = window.New(c, nil, time.Now)
	return nil
}

// open looks for the conversation in what epitomes that do not run have decided. One that runs holds its store: then
// nothing is known.
func (t *Trial) open(home string) error {
	running := ""
	for i, folder := range instance.FoldersIn(home) {
		if b, err := instance.Read(folder); err == nil {
			if _, err := b.Ask(); err == nil {
				running = b.Listen
				continue
			}
		}
		if t.scopeIsOne() && (t.find(folder, t.via) || i > 0 && t.find(folder, runUpstream(t.dialect))) {
			return nil
		}
	}
	if running != "" {
		t.known = "nothing: a running epitome holds what was decided; a request with x-epitome-mode: observe shows what it would send, as decided before or now"
		t.note = "This is what would be done to a conversation never seen; what epitome on " + running +
			" has decided is not in it. --turns comes closer."
		return t.begin(home)
	}
	return t.openHome(home)
}

// find reports whether the conversation is known in the folder, as one that went to the upstream of this name, and if
// it is, takes what is known from there.
func (t *Trial) find(folder, via string) bool {
	k, err := daemon.OpenLeft(t.conf, folder)
	if err != nil {
		return false
	}
	usual := t.via
	t.via = via
	t.look(k)
	request, err := t.dialect.Read(t.body, nil)
	if err != nil || t.shape(t.body, request.Model).Report.Repeated == 0 {
		t.via = usual
		_ = k.Close()
		return false
	}
	t.look(k) // anew: to shape is to remember
	t.known = "what was decided in " + folder
	t.ending = append(t.ending, func() { _ = k.Close() })
	return true
}

// look takes what is known from what was kept, and writes nothing there.
func (t *Trial) look(k daemon.Left) {
	t.use(k.Shadow(t.conf, t.window))
}

// openHome begins with what is known of other conversations, if anything is.
func (t *Trial) openHome(home string) error {
	if !t.scopeIsOne() {
		t.known = "nothing: what was decided belongs to a credential or a header, which this request does not come with"
		return t.begin(home)
	}
	k, err := daemon.OpenLeft(t.conf, home)
	if err != nil {
		t.known = "nothing: no decision was ever made here"
		if !errors.Is(err, console.ErrNoArtifact) {
			t.known = "nothing: " + err.Error()
		}
		return t.begin(home)
	}
	t.known = "what was decided in " + home
	t.ending = append(t.ending, func() { _ = k.Close() })
	t.look(k)
	return nil
}

// scopeIsOne reports whether everything is remembered for everybody.
func (t *Trial) scopeIsOne() bool {
	return t.conf.Scope == "shared" || t.conf.Scope == "auto" && console.Loopback(t.conf.Listen)
}

// begin starts with nothing decided. Names are those of the folder's secret, if it has one, and nothing is kept.
func (t *Trial) begin(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, daemon.StoreFolder)); err != nil {
		var failed error
		if folder, failed = os.MkdirTemp("", "epitome-explain-"); failed != nil {
			return fmt.Errorf("cannot make a folder for what is not to stay: %w", failed)
		}
		t.ending = append(t.ending, func() { _ = os.RemoveAll(folder) })
	}
	m, err := daemon.Unwritten(t.conf, folder, t.window)
	if err == nil {
		t.use(m)
	}
	return err
}

func (t *Trial) use(m rewrite.Deps) {
	t.means, t.shaper = m, rewrite.NewShaper(m)
}

// upstream is the one that a request for the model goes to, if its path does not say.
func (t *Trial) upstream(model string) string {
	if t.via != "" {
		return t.via
	}
	return cmp.Or(t.routed(model), t.conf.Upstream)
}

// routed is the upstream that a route gives the model; empty if none does.
func (t *Trial) routed(model string) string {
	for _, r := range t.conf.Routes {
		if unit.Match(r.Model, model) {
			return r.Upstream
		}
	}
	return ""
}

// pathUpstream is the upstream that a path names which clients of the dialect are told to use; empty if they name none,
// or the command line or a route says where requests go.
func (t *Trial) pathUpstream(told string) string {
	const anthropic = "anthropic"
	if _, has := t.conf.Upstreams[anthropic]; !has || told != "" || t.dialect.Name() != "messages" {
		return ""
	}
	request, err := t.dialect.Read(t.body, nil)
	if err != nil || t.routed(request.Model) != "" {
		return ""
	}
	return anthropic
}

// runUpstream is the upstream that "epitome run" makes for clients of the dialect.
func runUpstream(d daemon.Dialect) string {
	if d.Name() == "messages" {
		return instance.RunAnthropic
	}
	return instance.RunOpenAI
}

// shape shapes one request of the conversation.
func (t *Trial) shape(body []byte, model string) rewrite.Output {
	up := t.upstream(model)
	return t.shaper.Shape(rewrite.Input{Dialect: t.dialect, Body: body, Upstream: up, Limits: &t.conf.Rewrite,
		SummaryMode: t.conf.Summarize.Mode, Contexts: t.conf.ContextsFor(up), Project: t.conf.Upstreams[up].Project})
}

// report explains the request, and the conversation before it if turns says so.
func (t *Trial) report(turns bool) *explanation.Report {
	r := &explanation.Report{Mode: t.conf.Mode, Preset: t.conf.Rewrite.Preset, Bytes: len(t.body), Known: t.known,
		Note: t.note, Dialect: t.dialect.Name(), Assumed: !t.sure, Title: daemon.TitleOf(t.dialect), Body: t.body,
		Changes: []explanation.Change{}}
	request, err := t.dialect.Read(t.body, nil)
	if err != nil {
		r.Reason = err.Error()
		return r
	}
	if turns {
		r.Turns = t.turns(request)
	}
	shaped := t.shape(t.body, request.Model)
	r.Body = shaped.Body
	t.describe(r, request, shaped.Report)
	for _, c := range shaped.Changes() {
		r.Changes = append(r.Changes, explanation.NewChange(c))
	}
	return r
}

// describe says what the request is made of and what the limits are.
func (t *Trial) describe(r *explanation.Report, request *conversation.Request, told rewrite.Report) {
	r.Model, r.Upstream = request.Model, t.upstream(request.Model)
	r.Window, r.Usable, r.MaxOutput = told.Window, int(told.Usable), request.MaxOutput
	r.WindowFrom = string(t.window.Of(r.Upstream, request.Model).Source)
	if t.given {
		r.WindowFrom = "command line"
	}
	r.Counted = vocabularyOf(t.means.Models.Of(request.Model), told)
	r.Messages = request.MessagesIn(0, len(request.Items))
	r.Groups, r.Rounds = len(request.Groups()), 0
	for i := range request.Items {
		if request.Speaks(&request.Items[i]) {
			r.Rounds++
		}
	}
	r.Rent, r.Limits = t.conf.Rewrite.Rent, t.conf.Rewrite.EffectiveAt(told.Window, int(told.Usable), 1)
	r.Summaries = t.summaries(r)
	r.Before, r.After = explanation.Size(told.TokensBefore), explanation.Size(told.TokensAfter)
	r.TokensBefore, r.TokensAfter = told.TokensBefore.Total(), told.TokensAfter.Total()
	r.Added, r.Memory, r.Contexts, r.NotAdded = told.Added.Tokens, told.Added.Memory, told.Added.Names, told.Added.Why
	r.Action, r.Broke, r.Repeated, r.Reason = told.Action, told.Broke, told.Repeated, told.Reason
	if told.Err != nil {
		r.Failed = told.Err.Error()
	}
}

// summaries says who makes them. What a model is asked costs something, and explain asks none.
func (t *Trial) summaries(r *explanation.Report) string {
	conf, mode := t.conf.Summarize, t.conf.Summarize.Mode.OrDefault()
	if !mode.Asks() {
		return fmt.Sprintf("Its summary is made by code alone (mode %s).", mode)
	}
	key := "with the client's credential"
	if conf.Upstream != "" && conf.Upstream != r.Upstream {
		key = "with that upstream's own key"
	}
	return fmt.Sprintf("For its summary (mode %s) the proxy asks %s at %s, %s, at %d tokens or ahead of need from %d on; here no model is asked.",
		mode, cmp.Or(conf.Model, r.Model), cmp.Or(conf.Upstream, r.Upstream), key,
		r.Limits.CompactLine, r.Limits.PrepareLine)
}

// vocabularyOf says how well tokens of the model can be counted.
func vocabularyOf(m tokenize.Model, told rewrite.Report) string {
	switch {
	case told.Answers > 0:
		return fmt.Sprintf("as %s × %.2f, learned from %d answers", m.Vocabulary, told.Ratio, told.Answers)
	case m.Ratio == 1:
		return fmt.Sprintf("as %s", m.Vocabulary)
	}
	return fmt.Sprintf("as %s × %.2f", m.Vocabulary, m.Ratio)
}

// turns plays all requests of the conversation but the last one: wherever the assistant answered, one had been sent.
func (t *Trial) turns(request *conversation.Request) []explanation.Turn {
	list := []explanation.Turn{}
	if len(request.Items) == 0 {
		return list
	}
	end := request.Items[len(request.Items)-1].Place().End
	for i := max(request.Lead, 1); i < len(request.Items); i++ {
		if request.Items[i].Role != conversation.Assistant || request.Items[i-1].Role == conversation.Assistant {
			continue
		}
		later := jsonspan.Span{Start: request.Items[i-1].Place().End, End: end}
		body, err := jsonspan.Splice(t.body, []jsonspan.Edit{{Span: later}})
		if err != nil {
			continue // the spans of a request that was read do not overlap
		}
		shaped := t.shape(body, request.Model)
		told := shaped.Report
		turn := explanation.Turn{Messages: request.MessagesIn(0, i),
			TokensBefore: told.TokensBefore.Total(), TokensAfter: told.TokensAfter.Total(), Broke: told.Broke, Reason: told.Reason}
		for _, c := range shaped.Changes() {
			if c.New {
				turn.Changes = append(turn.Changes, explanation.NewChange(c))
			}
		}
		list = append(list, turn)
	}
	return list
}
