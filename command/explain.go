package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"epitome/command/explanation"
	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/daemon/asides"
	"epitome/instance"
	"epitome/prose"
	"epitome/rewrite"
	"epitome/rewrite/aside"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
	"epitome/tokenize"
	"epitome/unit"
	"epitome/window"
)

type explainCmd struct {
	File string `arg:"" optional:"" placeholder:"FILE" help:"A request of Chat Completions, Anthropic Messages or OpenAI Responses, as a file of JSON. - is the standard input. The id of a conversation is as good as --conversation; the number of an exchange, as pages show it, tells its conversation."`

	Conversation string `placeholder:"ID" help:"Tell what a running epitome has done to the conversation with this id: turn by turn, and what the model does not see now."`

	Dialect string `placeholder:"NAME" enum:",chat,messages,responses" default:"" help:"Read it as chat (Chat Completions), messages (Anthropic Messages) or responses (OpenAI Responses). Default: as its tools, results and settings show."`
	Window  string `placeholder:"TOKENS" help:"Assume that the model holds this many tokens, as 32k or 200000."`
	Preset  string `placeholder:"NAME" help:"Preset to use. Default: the configured one."`
	Turns   bool   `help:"Play the request as a conversation: turn by turn, as its client would have sent it, beginning with nothing known."`
	JSON    bool   `xor:"output" help:"Print the report as JSON."`
	Body    bool   `xor:"output" help:"Print the request as epitome would send it, instead of a report."`
}

// Run needs neither a running epitome nor a key, and writes nothing but its report.
func (k explainCmd) Run(c *cli) error {
	if id := k.conversation(); id != "" {
		return k.explainStory(c, id)
	}
	if k.isExchange() {
		return k.explainExchange(c)
	}
	if k.File == "" {
		return errors.New("cannot explain nothing: give the file of a request, or --conversation with the id of one that runs")
	}
	conf, err := c.load()
	if err != nil {
		return err
	}
	if k.Preset != "" {
		if err := conf.Rewrite.SetPreset(k.Preset); err != nil {
			return err
		}
	}
	body, err := k.read()
	if err != nil {
		return err
	}
	folder, err := conf.DataFolder()
	if err != nil {
		return err
	}
	e := explaining{conf: conf, came: body, body: body}
	if e.dialect, e.sure, err = daemon.DialectOf(k.Dialect, body); err != nil {
		return err
	}
	e.via = e.pathUpstream(c.Upstream)
	if err := e.windows(k.Window); err != nil {
		return err
	}
	defer func() { e.close() }()
	if k.Turns {
		e.known = "nothing: the conversation is played from its beginning"
		err = e.begin(folder)
	} else {
		err = e.open(folder)
	}
	if err != nil {
		return err
	}
	r := e.report(k.Turns)
	if err := k.print(r); err != nil || r.Messages > 0 || k.Body {
		return err
	}
	return fmt.Errorf("cannot explain %s: %s; give a request of Chat Completions or Anthropic Messages", k.File, r.Reason)
}

func (k explainCmd) print(r *explanation.Report) error {
	switch {
	case k.Body:
		_, err := os.Stdout.Write(r.Body)
		return err
	case k.JSON:
		return r.JSON(os.Stdout)
	}
	return r.Print(os.Stdout, isTerminal(os.Stdout))
}

func (k explainCmd) read() (body []byte, err error) {
	if k.File == "-" {
		body, err = io.ReadAll(os.Stdin)
	} else {
		body, err = os.ReadFile(k.File)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the request %s: there is no such file; give the file of a request, the id of a "+
			"conversation, or the number of an exchange as pages show it", k.File)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the request %s: %w", k.File, config.PathCause(err))
	}
	if err := json.Unmarshal(body, &json.RawMessage{}); err != nil {
		return nil, fmt.Errorf("cannot explain %s: it is not JSON: %w", k.File, err)
	}
	return body, nil
}

// explaining is what one report is made with.
type explaining struct {
	conf    config.Config
	came    []byte
	body    []byte // with what was said and read within its answers, as far as that is known
	dialect daemon.Dialect
	sure    bool // the body shows the dialect, or the command line names it
	window  atomic.Pointer[window.Windows]
	given   bool // the window is the command line's
	means   rewrite.Deps
	shaper  *rewrite.Shaper
	known   string   // what of the conversation is known, in words
	note    string   // what is to be read before anything else
	via     string   // the upstream's name, where the configuration's is not the one that requests went to
	ending  []func() // what is to be done at the end, the last first
}

func (e *explaining) close() {
	for i := len(e.ending) - 1; i >= 0; i-- {
		e.ending[i]()
	}
}

func (e *explaining) windows(text string) error {
	c := e.conf.Window
	if text != "" {
		tokens, err := config.ParseWindow(text)
		if err != nil {
			return err
		}
		all := unit.Tokens(tokens)
		c, e.given = window.Config{Default: all, Models: map[string]unit.Tokens{"*": all}}, true
	}
	e.window.Store(window.New(c, nil))
	return nil
}

// open looks for the conversation in what epitomes that do not run have decided. One that runs holds its store: then
// nothing is known.
func (e *explaining) open(home string) error {
	running := ""
	for i, folder := range instance.FoldersIn(home) {
		if b, err := instance.Read(folder); err == nil {
			if _, err := b.Ask(); err == nil {
				running = b.Listen
				continue
			}
		}
		if e.scopeIsOne() && (e.find(folder, e.via) || i > 0 && e.find(folder, runUpstream(e.dialect))) {
			return nil
		}
	}
	if running != "" {
		e.known = "nothing: a running epitome holds what was decided; a request with x-epitome-mode: observe shows what it would send, as decided before or now"
		e.note = "This is what would be done to a conversation never seen; what epitome on " + running +
			" has decided is not in it. --turns comes closer."
		return e.begin(home)
	}
	return e.openHome(home)
}

// find reports whether the conversation is known in the folder, as one that went to the upstream of this name, and if
// it is, takes what is known from there.
func (e *explaining) find(folder, via string) bool {
	k, err := daemon.OpenLeft(e.conf, folder)
	if err != nil {
		return false
	}
	usual := e.via
	e.via = via
	e.look(k)
	request, err := e.dialect.Read(e.body, nil)
	if err != nil || e.shape(e.body, request.Model).Report.Repeated == 0 {
		e.via = usual
		_ = k.Close()
		return false
	}
	e.look(k) // anew: to shape is to remember
	e.known = "what was decided in " + folder
	e.ending = append(e.ending, func() { _ = k.Close() })
	return true
}

// look takes what is known from what was kept, and writes nothing there.
func (e *explaining) look(k daemon.Left) {
	e.use(k.Shadow(e.conf, &e.window))
	if e.conf.Offload.Asides {
		e.body = asides.Woven(k.Store, aside.Ask{Dialect: e.dialect.Dialect, Body: e.came})
	}
}

// openHome begins with what is known of other conversations, if anything is.
func (e *explaining) openHome(home string) error {
	if !e.scopeIsOne() {
		e.known = "nothing: what was decided belongs to a credential or a header, which this request does not come with"
		return e.begin(home)
	}
	k, err := daemon.OpenLeft(e.conf, home)
	if err != nil {
		e.known = "nothing: no decision was ever made here"
		if !errors.Is(err, console.ErrNoArtifact) {
			e.known = "nothing: " + err.Error()
		}
		return e.begin(home)
	}
	e.known = "what was decided in " + home
	e.ending = append(e.ending, func() { _ = k.Close() })
	e.look(k)
	return nil
}

// scopeIsOne reports whether everything is remembered for everybody.
func (e *explaining) scopeIsOne() bool {
	return e.conf.Scope == "shared" || e.conf.Scope == "auto" && console.Loopback(e.conf.Listen)
}

// begin starts with nothing decided. Names are those of the folder's secret, if it has one, and nothing is kept.
func (e *explaining) begin(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, daemon.StoreFolder)); err != nil {
		var failed error
		if folder, failed = os.MkdirTemp("", "epitome-explain-"); failed != nil {
			return fmt.Errorf("cannot make a folder for what is not to stay: %w", failed)
		}
		e.ending = append(e.ending, func() { _ = os.RemoveAll(folder) })
	}
	m, err := daemon.Unwritten(e.conf, folder, &e.window)
	if err == nil {
		e.use(m)
	}
	return err
}

func (e *explaining) use(m rewrite.Deps) {
	e.means, e.shaper = m, rewrite.NewShaper(m)
}

// upstream is the one that a request for the model goes to, if its path does not say.
func (e *explaining) upstream(model string) string {
	if e.via != "" {
		return e.via
	}
	return cmp.Or(e.routed(model), e.conf.Upstream)
}

// routed is the upstream that a route gives the model; empty if none does.
func (e *explaining) routed(model string) string {
	for _, r := range e.conf.Routes {
		if unit.Match(r.Model, model) {
			return r.Upstream
		}
	}
	return ""
}

// pathUpstream is the upstream that a path names which clients of the dialect are told to use; empty if they name none,
// or the command line or a route says where requests go.
func (e *explaining) pathUpstream(told string) string {
	const anthropic = "anthropic"
	if _, has := e.conf.Upstreams[anthropic]; !has || told != "" || e.dialect.Name != "messages" {
		return ""
	}
	request, err := e.dialect.Read(e.body, nil)
	if err != nil || e.routed(request.Model) != "" {
		return ""
	}
	return anthropic
}

// runUpstream is the upstream that "epitome run" makes for clients of the dialect.
func runUpstream(d daemon.Dialect) string {
	if d.Name == "messages" {
		return instance.RunAnthropic
	}
	return instance.RunOpenAI
}

// shape shapes one request of the conversation.
func (e *explaining) shape(body []byte, model string) rewrite.Output {
	up := e.upstream(model)
	return e.shaper.Shape(rewrite.Input{Dialect: e.dialect.Dialect, Body: body, Upstream: up, Limits: &e.conf.Rewrite,
		Style: e.conf.Style(), Contexts: e.conf.ContextsFor(up), Project: e.conf.Upstreams[up].Project})
}

// report explains the request, and the conversation before it if turns says so.
func (e *explaining) report(turns bool) *explanation.Report {
	r := &explanation.Report{Mode: e.conf.Mode, Preset: e.conf.Rewrite.Preset, Bytes: len(e.body), Known: e.known,
		Note: e.note, Dialect: e.dialect.Name, Assumed: !e.sure, Title: e.dialect.Title, Body: e.body,
		Changes: []explanation.Change{}}
	request, err := e.dialect.Read(e.body, nil)
	if err != nil {
		r.Reason = err.Error()
		return r
	}
	if len(e.body) > len(e.came) {
		r.Known += ", and what was said and read within answers, which is put in again"
	}
	if turns {
		r.Turns = e.turns(request)
	}
	shaped := e.shape(e.body, request.Model)
	r.Body = shaped.Body
	e.describe(r, request, shaped.Report)
	for _, c := range shaped.StandingChanges(request) {
		r.Changes = append(r.Changes, explanation.NewChange(request, c))
	}
	return r
}

// describe says what the request is made of and what the limits are.
func (e *explaining) describe(r *explanation.Report, request *conversation.Request, told rewrite.Report) {
	r.Model, r.Upstream = request.Model, e.upstream(request.Model)
	r.Window, r.Usable, r.MaxOutput = told.Window, told.Usable, request.MaxOutput
	r.WindowFrom = string(e.window.Load().Of(r.Upstream, request.Model).Source)
	if e.given {
		r.WindowFrom = "command line"
	}
	r.Counted = vocabularyOf(e.means.Models.Of(request.Model), told)
	r.Messages = conversation.MessagesIn(request, 0, len(request.Items))
	r.Groups, r.Rounds = len(request.Groups()), len(request.Turns())
	r.Rent, r.Limits = e.conf.Rewrite.Rent, e.conf.Rewrite.Bounds(told.Window, told.Usable)
	r.Summaries = e.summaries(r)
	r.Before, r.After = explanation.Size(told.Before), explanation.Size(told.After)
	r.TokensBefore, r.TokensAfter = told.Before.Total(), told.After.Total()
	r.Added, r.Memory, r.Contexts, r.NotAdded = told.Added.Tokens, told.Added.Memory, told.Added.Names, told.Added.Why
	r.Action, r.Broke, r.Repeated, r.Reason = told.Action, told.Broke, told.Repeated, told.Reason
	if told.Err != nil {
		r.Failed = told.Err.Error()
	}
}

// summaries says who makes them. What a model is asked costs something, and explain asks none.
func (e *explaining) summaries(r *explanation.Report) string {
	style, conf := e.conf.Style().At(r.Window), e.conf.Summarize
	if style.Mode != prose.ModeLLM && style.Mode != prose.ModeHybrid {
		return fmt.Sprintf("Its summary is made by code alone (mode %s).", style.Mode)
	}
	key := "with the client's credential"
	if conf.Upstream != "" && conf.Upstream != r.Upstream {
		key = "with that upstream's own key"
	}
	return fmt.Sprintf("For its summary (mode %s) the proxy asks %s at %s, %s, at %d tokens or ahead of need from %d on; here no model is asked.",
		style.Mode, cmp.Or(conf.Model, r.Model), cmp.Or(conf.Upstream, r.Upstream), key,
		r.Limits.Of("compact_at"), r.Limits.Of("prepare_at"))
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
func (e *explaining) turns(request *conversation.Request) []explanation.Turn {
	list := []explanation.Turn{}
	if len(request.Items) == 0 {
		return list
	}
	end := request.Items[len(request.Items)-1].Place().End
	for i := max(request.Head, 1); i < len(request.Items); i++ {
		if request.Items[i].Role != conversation.Assistant || request.Items[i-1].Role == conversation.Assistant {
			continue
		}
		later := span.Span{Start: request.Items[i-1].Place().End, End: end}
		body, err := span.Splice(e.body, []span.Edit{{Span: later}})
		if err != nil {
			continue // the spans of a request that was read do not overlap
		}
		shaped := e.shape(body, request.Model)
		told := shaped.Report
		t := explanation.Turn{Messages: conversation.MessagesIn(request, 0, i),
			TokensBefore: told.Before.Total(), TokensAfter: told.After.Total(), Broke: told.Broke, Reason: told.Reason}
		for _, c := range shaped.StandingChanges(request) {
			if c.Why != "" { // else it was decided at an earlier turn
				t.Changes = append(t.Changes, explanation.NewChange(request, c))
			}
		}
		list = append(list, t)
	}
	return list
}
