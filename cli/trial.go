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
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/ladder"
	"epitome/window"
)

// trial shapes a request as an epitome would that has decided nothing yet. It asks no model, and writes nothing.
type trial struct {
	conf     config.Config
	body     []byte
	dialect  proxy.Dialect
	request  *conversation.Request
	upstream string
	windows  *window.Windows
	shaper   *rewrite.Shaper
}

// newTrial reads a request. home is the data folder, which has the context files. named is the upstream of the command
// line; empty if that names none.
func newTrial(conf config.Config, home string, body []byte, flags explainFlags, named string) (*trial, error) {
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
	return &trial{conf: conf, body: body, dialect: dialect, request: request, windows: windows,
		upstream: upstreamOf(conf, dialect.Name(), request.Model, named), shaper: rewrite.NewShaper(deps)}, nil
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

// report says what would be done to a request. Tokens are the model's.
type report struct {
	event.Shaping
	Dialect    string           `json:"dialect"`
	Upstream   string           `json:"upstream"`
	Mode       string           `json:"mode"`
	Preset     string           `json:"preset"`
	Messages   int              `json:"messages"`
	WindowFrom string           `json:"window_from"`
	Limits     ladder.Effective `json:"limits"`
	Action     string           `json:"action"`
	Added      rewrite.Added    `json:"added"`
	Changes    []change         `json:"changes"`
	Earlier    []change         `json:"earlier,omitempty"` // decided at the requests before

	err  error  // what failed inside epitome
	body []byte // as it would be sent
}

// change is a message, or several in a row, that would not be sent whole.
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

// explain shapes the request. With turns it shapes the requests before it first.
func (t *trial) explain(turns bool) *report {
	r := &report{Dialect: t.dialect.Name(), Upstream: t.upstream, Mode: t.conf.Mode, Preset: t.conf.Rewrite.Preset,
		Messages: t.request.MessagesIn(0, len(t.request.Items)), Changes: []change{}}
	if turns {
		r.Earlier = t.earlier()
	}
	out := t.shape(t.body)
	r.Shaping, r.Action, r.Added = out.Report.Shaping, out.Report.Action, out.Report.Added
	r.err, r.body = out.Report.Err, out.Body
	r.WindowFrom = string(t.windows.Of(t.upstream, t.request.Model).Source)
	r.Limits = t.conf.Rewrite.EffectiveAt(r.Window, int(r.Usable), 1)
	for _, c := range out.Changes() {
		r.Changes = append(r.Changes, newChange(c))
	}
	return r
}

// earlier shapes the requests before the last one, and returns the changes decided at them. Wherever the assistant
// answered, a request had been sent.
func (t *trial) earlier() (all []change) {
	items, request := t.request.Items, 0
	for i := max(t.request.Lead, 1); i < len(items); i++ {
		if items[i].Role != conversation.Assistant || items[i-1].Role == conversation.Assistant {
			continue
		}
		later := jsonspan.Span{Start: items[i-1].Place().End, End: items[len(items)-1].Place().End}
		body, err := jsonspan.Splice(t.body, []jsonspan.Edit{{Span: later}})
		if err != nil {
			continue // the spans of a request that was read do not overlap
		}
		request++
		out := t.shape(body)
		for _, c := range out.Changes() {
			if c.New {
				n := newChange(c)
				n.Request = request
				all = append(all, n)
			}
		}
	}
	return all
}

// shape shapes one request of the conversation.
func (t *trial) shape(body []byte) rewrite.Output {
	return t.shaper.Shape(rewrite.Input{Dialect: t.dialect, Body: body, Upstream: t.upstream, Limits: &t.conf.Rewrite,
		SummaryMode: t.conf.Summarize.Mode, Contexts: t.conf.ContextsFor(t.upstream),
		Project: t.conf.Upstreams[t.upstream].Project})
}

func newChange(c rewrite.Change) change {
	n := change{First: c.Message, Last: max(c.Message, c.Last), Tool: c.Tool, Argument: c.Argument, Step: string(c.Step),
		Why: "decided before", Before: c.Before, After: c.After}
	if c.New {
		n.Why = strings.ReplaceAll(string(c.Why), "_", " ")
	}
	if len(c.Artifacts) > 0 {
		n.Artifact = c.Artifacts[0]
	}
	return n
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
	fmt.Fprintf(t, "\nlimit\ttokens\nwindow (%s)\t%d\nusable\t%d\nclear\t%d\ncompact\t%d\n", r.WindowFrom, r.Window, r.Usable,
		r.Limits.ClearLine, r.Limits.CompactLine)
	fmt.Fprintf(t, "a result\t%d\na search or fetch\t%d\na file read\t%d\n\n", r.Limits.Offload, r.Limits.Lookups,
		r.Limits.Reads)
	if len(r.Earlier) > 0 {
		fmt.Fprintln(t, "Changes decided at earlier requests of the conversation:")
		for _, c := range r.Earlier {
			fmt.Fprintf(t, "request %d\t%s\n", c.Request, c)
		}
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
	fmt.Fprintln(t, "messages\tstep\ttool\tbefore\tafter\tartifact\twhy")
	for _, c := range r.Changes {
		fmt.Fprintln(t, c)
	}
	return t.Flush()
}

// String returns the change as cells of a table.
func (c change) String() string {
	messages := fmt.Sprint(c.First)
	if c.Last > c.First {
		messages += fmt.Sprintf("-%d", c.Last)
	}
	call := figure.Plain(figure.Shorten(strings.Join(strings.Fields(c.Tool+" "+c.Argument), " "), 40))
	return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s\t%s", messages, c.Step, call, c.Before, c.After, c.Artifact, c.Why)
}
