package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"epitome/cli/daemon"
	"epitome/config"
	"epitome/console/figure"
	"epitome/event"
	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/ladder"
	"epitome/window"
)

// report says what would be done to a request. Tokens are the model's.
type report struct {
	event.Shaping
	Dialect    string           `json:"dialect"`
	Upstream   string           `json:"upstream"`
	Mode       string           `json:"mode"`
	Preset     string           `json:"preset"`
	Messages   int              `json:"messages"`
	WindowFrom window.Source    `json:"window_from"`
	Limits     ladder.Effective `json:"limits"`
	Action     string           `json:"action"`
	Added      rewrite.Added    `json:"added"`
	Changes    []change         `json:"changes"`
	Earlier    []change         `json:"earlier,omitempty"` // decided at the requests before

	err  error  // what failed inside epitome
	body []byte // as it would be sent
}

// try shapes a request as an epitome would that has decided nothing yet. It asks no model, and writes nothing. home is
// the data folder, which has the context files.
func (a *app) try(conf config.Config, home string, body []byte, flags explainFlags) (*report, error) {
	dialect, err := daemon.DialectOf(flags.dialect, body)
	if err != nil {
		return nil, err
	}
	request, err := dialect.Read(body, nil)
	if err != nil {
		return nil, err
	}
	if flags.window != "" {
		tokens, err := config.ParseWindow(flags.window)
		if err != nil {
			return nil, err
		}
		all := unit.Tokens(tokens)
		conf.Window = window.Config{Default: all, Models: map[string]unit.Tokens{"*": all}}
	}
	windows := window.New(conf.Window, nil, time.Now)
	deps, err := daemon.TrialDeps(conf, home, windows)
	if err != nil {
		return nil, err
	}
	shaper, upstream := rewrite.NewShaper(deps), a.upstreamOf(conf, dialect.Name(), request.Model)
	shape := func(body []byte) rewrite.Output {
		return shaper.Shape(rewrite.Input{Dialect: dialect, Body: body, Upstream: upstream, Limits: &conf.Rewrite,
			SummaryMode: conf.Summarize.Mode, Contexts: conf.ContextsFor(upstream), Project: conf.Upstreams[upstream].Project})
	}
	r := &report{Dialect: dialect.Name(), Upstream: upstream, Mode: conf.Mode, Preset: conf.Rewrite.Preset,
		Messages: request.MessagesIn(0, len(request.Items)), Changes: []change{},
		WindowFrom: windows.Of(upstream, request.Model).Source}
	if flags.turns {
		for k, body := range earlier(request) {
			out := shape(body)
			for _, c := range out.Changes() {
				if c.New {
					r.Earlier = append(r.Earlier, newChange(k+1, c))
				}
			}
		}
	}
	out := shape(body)
	for _, c := range out.Changes() {
		r.Changes = append(r.Changes, newChange(0, c))
	}
	r.Shaping, r.Action, r.Added = out.Report.Shaping, out.Report.Action, out.Report.Added
	r.err, r.body = out.Report.Err, out.Body
	r.Limits = conf.Rewrite.EffectiveAt(r.Window, int(r.Usable), 1)
	return r, nil
}

// upstreamOf returns the upstream that a request would go to: by its route, by the command line, or by the path that
// clients of the dialect are told to use.
func (a *app) upstreamOf(conf config.Config, dialect, model string) string {
	for _, r := range conf.Routes {
		if unit.Match(r.Model, model) {
			return r.Upstream
		}
	}
	if _, ok := conf.Upstreams["anthropic"]; ok && a.flags.Upstream == "" && dialect == "messages" {
		return "anthropic"
	}
	return conf.Upstream
}

// earlier returns the bodies of the requests before this one: one was sent wherever the assistant answered.
func earlier(r *conversation.Request) (bodies [][]byte) {
	items := r.Items
	for i := max(r.Lead, 1); i < len(items); i++ {
		if items[i].Role != conversation.Assistant || items[i-1].Role == conversation.Assistant {
			continue
		}
		later := jsonspan.Span{Start: items[i-1].Place().End, End: items[len(items)-1].Place().End}
		if body, err := jsonspan.Splice(r.Body, []jsonspan.Edit{{Span: later}}); err == nil {
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// write writes the report for people.
func (r *report) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s, to upstream %s: %d messages, read as %s\n\n", figure.Plain(r.Model), r.Upstream, r.Messages,
		r.Dialect)
	fmt.Fprintln(t, "tokens\tbefore\tafter")
	before, after := r.TokensBefore, r.TokensAfter
	for _, part := range []struct {
		name          string
		before, after int
	}{
		{"system", before.System, after.System}, {"tools", before.Tools, after.Tools}, {"user", before.User, after.User},
		{"assistant", before.Assistant, after.Assistant}, {"results", before.Results, after.Results},
		{"summary", before.Summary, after.Summary}, {"images", before.Images, after.Images},
		{"other", before.Other, after.Other}, {"total", before.Total(), after.Total()},
	} {
		if part.before > 0 || part.after > 0 {
			fmt.Fprintf(t, "%s\t%d\t%d\n", part.name, part.before, part.after)
		}
	}
	l := r.Limits
	fmt.Fprintf(t, "\nlimit\ttokens\nwindow (%s)\t%d\nusable\t%d\nclear\t%d\ncompact\t%d\na result\t%d\n"+
		"a search or fetch\t%d\na file read\t%d\n\n", r.WindowFrom, r.Window, r.Usable, l.ClearLine, l.CompactLine, l.Offload,
		l.Lookups, l.Reads)
	if len(r.Earlier) > 0 {
		fmt.Fprintln(t, "Changes decided at earlier requests of the conversation:")
		writeChanges(t, r.Earlier)
		fmt.Fprintln(t)
	}
	if r.Added.Tokens > 0 {
		fmt.Fprintf(t, "Added to the system prompt: %d tokens, context files %q.\n", r.Added.Tokens, r.Added.Names)
	}
	if r.err != nil {
		fmt.Fprintf(t, "Something failed inside epitome, so it would send the form decided before: %v.\n", r.err)
	}
	if len(r.Changes) == 0 {
		fmt.Fprintf(t, "Nothing would be done: %s.\n", cmp.Or(r.Reason, r.Code.Sentence()))
		return t.Flush()
	}
	if r.Mode != "on" {
		fmt.Fprintf(t, "The mode is %s: the request would be sent as it came. In mode on:\n", r.Mode)
	}
	writeChanges(t, r.Changes)
	return t.Flush()
}

// change is a message, or several in a row, that is not sent whole.
type change struct {
	Request  int    `json:"request,omitempty"` // number of the earlier request
	First    int    `json:"message"`
	Last     int    `json:"last"`
	Tool     string `json:"tool,omitempty"`
	Argument string `json:"argument,omitempty"`
	Step     string `json:"step"`
	Why      string `json:"why"`
	Before   int    `json:"before"`
	After    int    `json:"after"`
	Artifact string `json:"artifact,omitempty"`
}

// newChange returns a change of the request with a number, or of the last one if that is 0.
func newChange(request int, c rewrite.Change) change {
	n := change{Request: request, First: c.Message, Last: max(c.Message, c.Last), Tool: c.Tool, Argument: c.Argument,
		Step: string(c.Step), Why: "decided before", Before: c.Before, After: c.After}
	if c.New {
		n.Why = strings.ReplaceAll(string(c.Why), "_", " ")
	}
	if len(c.Artifacts) > 0 {
		n.Artifact = c.Artifacts[0]
	}
	return n
}

// writeChanges writes changes as a table. Those of earlier requests begin with its number.
func writeChanges(w io.Writer, changes []change) {
	fmt.Fprintln(w, "messages\tstep\ttool\tbefore\tafter\tartifact\twhy")
	for _, c := range changes {
		messages := fmt.Sprint(c.First)
		if c.Request > 0 {
			messages = fmt.Sprintf("request %d: %d", c.Request, c.First)
		}
		if c.Last > c.First {
			messages += fmt.Sprintf("-%d", c.Last)
		}
		call := figure.Plain(figure.Shorten(strings.Join(strings.Fields(c.Tool+" "+c.Argument), " "), 40))
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n", messages, c.Step, call, c.Before, c.After, c.Artifact, c.Why)
	}
}
