package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/dialect"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/window"
)

func (a *app) explainCommand() *cobra.Command {
	var window string
	var turns, onlyBody bool
	c := &cobra.Command{Use: "explain FILE", Short: "Explain what epitome would do to a request",
		Long: "Explain what epitome would do to the request in a file (- is standard input), without a key or network.\n" +
			"The upstream and window of a running epitome are used, but it is assumed not to know the conversation.\n" +
			"Nothing is kept, so the artifacts that the report names cannot be read.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := a.newExplanation(args[0], window)
			switch {
			case err != nil:
				return fmt.Errorf("cannot explain %s: %w", args[0], err)
			case turns:
				e.playEarlier()
			}
			out := e.shape(e.request.Body)
			if onlyBody {
				_, err := stdout.Write(out.Body)
				return err
			}
			return e.print(stdout, &out)
		}}
	f := c.Flags()
	f.BoolVar(&turns, "turns", false, "explain the earlier turns first, one by one")
	f.StringVar(&window, "window", "", "assume that the model holds this many `tokens`, for example 32k")
	f.BoolVar(&onlyBody, "body", false, "print the request as it would be sent, instead of a report")
	return c
}

// explanation shapes one request as an epitome would that asks no model and keeps nothing.
type explanation struct {
	conf     config.Config
	dialect  conversation.Dialect
	request  *conversation.Request
	upstream string
	source   string // of the window
	shaper   *rewrite.Shaper
	earlier  []string    // a line for each change that was decided at an earlier request
	codes    event.Codes // of the changes in the table
}

// newExplanation reads the request in a file; - is standard input. It assumes a window if one is given.
func (a *app) newExplanation(file, holds string) (*explanation, error) {
	conf, home, err := a.loadWithFolder()
	if err != nil {
		return nil, err
	}
	body, err := readRequest(file)
	if err != nil {
		return nil, err
	}
	e := &explanation{conf: conf}
	e.dialect, err = dialect.Of("", body)
	if err != nil {
		return nil, err
	}
	e.request, err = e.dialect.Read(body, nil)
	if err != nil {
		return nil, err
	}
	e.upstream = a.upstreamOf(conf, e.dialect, e.request.Model)
	tokens := 0
	if card, err := daemon.Read(home); err == nil {
		state, _ := card.State() // without an answer, the configuration counts
		for _, c := range slices.Backward(state.Newest) {
			if c.Model == e.request.Model {
				e.upstream, tokens, e.source = c.Upstream, c.Window, "running epitome"
			}
		}
	}
	if holds != "" {
		e.source = "--window"
		if tokens, err = config.ParseWindow(holds); err != nil {
			return nil, err
		}
	}
	if tokens > 0 {
		conf.Window.Models = map[string]unit.Tokens{"*": unit.Tokens(tokens)}
	}
	windows := window.New(conf.Window, nil, time.Now)
	e.source = cmp.Or(e.source, string(windows.Of(e.upstream, e.request.Model).Source))
	deps, err := daemon.TrialDeps(conf, home, windows)
	e.shaper = rewrite.NewShaper(deps)
	return e, err
}

// readRequest reads JSON from a file, or from standard input for "-".
func readRequest(file string) (body []byte, err error) {
	if file == "-" {
		body, err = io.ReadAll(os.Stdin)
	} else {
		body, err = os.ReadFile(file)
	}
	if err == nil && !json.Valid(body) {
		err = errors.New("it is not JSON")
	}
	return body, err
}

// upstreamOf returns the upstream that a request would go to: by its route, by the command line, or by the path that
// clients of the dialect are told to use.
func (a *app) upstreamOf(conf config.Config, d conversation.Dialect, model string) string {
	for _, r := range conf.Routes {
		if unit.Match(r.Model, model) {
			return r.Upstream
		}
	}
	if a.flags.Upstream != "" {
		return conf.Upstream
	}
	return cmp.Or(d.API().Upstream, conf.Upstream)
}

func (e *explanation) shape(body []byte) rewrite.Output {
	to := e.conf.Upstreams[e.upstream]
	return e.shaper.Shape(rewrite.Input{Dialect: e.dialect, Body: body, Upstream: e.upstream, Limits: &e.conf.Rewrite,
		Summary: e.conf.Summarize, Project: to.Project, Contexts: slices.Concat(to.Context, e.conf.Context.Names)})
}

// playEarlier shapes the requests before this one.
func (e *explanation) playEarlier() {
	turn := 0
	for end, body := range e.request.Grown() {
		if end == len(e.request.Body) {
			break
		}
		turn++
		out := e.shape(body)
		for _, c := range out.Changes() {
			if c.New {
				e.earlier = append(e.earlier, fmt.Sprintf("request %d: %s", turn, e.changeLine(c)))
			}
		}
	}
}

// print writes what is done to the request, and why, for people.
func (e *explanation) print(to io.Writer, out *rewrite.Output) error {
	r := out.Report
	l := e.conf.Rewrite.EffectiveAt(r.Window, r.Usable, 1)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, to upstream %s: %s, read as %s\n", console.Plain(e.request.Model), e.upstream,
		english.Plural(e.request.MessagesIn(0, len(e.request.Items)), "message", ""), e.dialect.API().Name)
	fmt.Fprintf(w, "%d tokens as it came, %d as it would be sent\n", r.TokensBefore.Total(), r.TokensAfter.Total())
	fmt.Fprintf(w, "\nlimit\ttokens\nwindow (%s)\t%d\nwindow less the answer\t%d\nclear\t%d\ncompact\t%d\n"+
		"a result\t%d\na search or fetch\t%d\na file read\t%d\n\n", e.source, r.Window, r.Usable, l.ClearLine,
		l.CompactLine, l.Offload, l.Lookups, l.OffloadReads)
	if r.Added > 0 {
		fmt.Fprintf(w, "Added to the system prompt: %d tokens, context files %q.\n", r.Added, strings.Split(r.Contexts, ", "))
	}
	if err := cmp.Or(r.Err, r.Faults); err != nil {
		fmt.Fprintf(w, "Something failed inside epitome, which would send the request without that: %v.\n", err)
	}
	if e.conf.Mode != event.ModeOn {
		fmt.Fprintf(w, "The mode is %s: the request would be sent as it came. In mode on:\n", e.conf.Mode)
	}
	lines := e.earlier
	for _, c := range out.Changes() {
		lines = append(lines, e.changeLine(c))
	}
	if len(lines) == 0 {
		fmt.Fprintf(w, "Nothing would be done: %s.\n", cmp.Or(r.Reason, r.Code.Sentence()))
		return w.Flush()
	}
	fmt.Fprintf(w, "messages\tstep\ttool\tbefore\tafter\tartifact\twhy\n%s\n\n", strings.Join(lines, "\n"))
	for _, code := range e.codes {
		fmt.Fprintf(w, "%s\t%s\n", code, code.Sentence())
	}
	return w.Flush()
}

// changeLine returns the line of a table about a change. Messages count from 1, as in the texts for the model.
func (e *explanation) changeLine(c rewrite.Change) string {
	messages, artifact, why := fmt.Sprint(c.Messages[0]+1), "", "decided in an earlier request"
	if c.New {
		why, e.codes = string(c.Reason), e.codes.With(c.Reason)
	}
	if c.Messages[1] > c.Messages[0] {
		messages += fmt.Sprintf("-%d", c.Messages[1]+1)
	}
	if len(c.Artifacts) > 0 {
		artifact = c.Artifacts[0]
	}
	call := console.Plain(console.Shorten(strings.Join(strings.Fields(c.Tool+" "+c.Argument), " "), 40))
	return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s\t%s", messages, c.Step, call, c.Before, c.After, artifact, why)
}
