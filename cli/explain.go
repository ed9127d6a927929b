package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
	"epitome/config"
	"epitome/console"
	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/window"
)

// explainFlags are those of the command explain.
type explainFlags struct {
	window, preset string
	turns, body    bool
}

func (a *app) explainCommand() *cobra.Command {
	var flags explainFlags
	c := &cobra.Command{Use: "explain FILE", Short: "Explain what epitome would do to a request",
		Long: "Explain what epitome would do to the request in a file (- is standard input), without a running epitome, a\n" +
			"key or the network.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.explain(args[0], flags); err != nil {
				return fmt.Errorf("cannot explain %s: %w", args[0], err)
			}
			return nil
		}}
	f := c.Flags()
	f.BoolVar(&flags.turns, "turns", false, "play the request as a conversation, turn by turn, beginning with nothing "+
		"known")
	f.StringVar(&flags.window, "window", "", "assume that the model holds this many `tokens`, as 32k or 200000")
	f.StringVar(&flags.preset, "preset", "", "use this preset in place of the configured one")
	f.BoolVar(&flags.body, "body", false, "print the request as it would be sent, instead of a report")
	return c
}

// explain prints how an epitome shapes the request in a file that has decided nothing yet. It asks no model, and writes
// nothing.
func (a *app) explain(file string, flags explainFlags) error {
	conf, home, err := a.loadWithFolder()
	if err == nil {
		err = flags.apply(&conf)
	}
	if err != nil {
		return err
	}
	body, err := readRequest(file)
	if err != nil {
		return err
	}
	dialect, err := daemon.DialectOf("", body)
	if err != nil {
		return err
	}
	request, err := dialect.Read(body, nil)
	if err != nil {
		return err
	}
	windows := window.New(conf.Window, nil, time.Now)
	deps, err := daemon.TrialDeps(conf, home, windows)
	if err != nil {
		return err
	}
	upstream, shaper := a.upstreamOf(conf, dialect.Name(), request.Model), rewrite.NewShaper(deps)
	shape := func(body []byte) rewrite.Output {
		return shaper.Shape(rewrite.Input{Dialect: dialect, Body: body, Upstream: upstream, Limits: &conf.Rewrite,
			SummaryMode: conf.Summarize.Mode, Contexts: conf.ContextsFor(upstream), Project: conf.Upstreams[upstream].Project})
	}
	var earlier []string // lines about changes that were decided at requests before
	if flags.turns {
		for k, body := range earlierBodies(request) {
			out := shape(body)
			for _, c := range out.Changes() {
				if c.New {
					earlier = append(earlier, fmt.Sprintf("request %d: %s", k+1, changeLine(c)))
				}
			}
		}
	}
	out := shape(body)
	if flags.body {
		_, err := os.Stdout.Write(out.Body)
		return err
	}
	fmt.Printf("%s, to upstream %s: %d messages, read as %s\n", console.Plain(request.Model), upstream,
		request.MessagesIn(0, len(request.Items)), dialect.Name())
	return writeExplanation(os.Stdout, &conf, windows.Of(upstream, request.Model).Source, &out, earlier)
}

// apply puts what the flags say into the configuration.
func (f explainFlags) apply(conf *config.Config) error {
	if f.window != "" {
		tokens, err := config.ParseWindow(f.window)
		if err != nil {
			return err
		}
		all := unit.Tokens(tokens)
		conf.Window = window.Config{Default: all, Models: map[string]unit.Tokens{"*": all}}
	}
	return setPreset(conf, f.preset)
}

// readRequest reads JSON from a file, or from standard input for "-".
func readRequest(file string) (body []byte, err error) {
	if file == "-" {
		body, err = io.ReadAll(os.Stdin)
	} else {
		body, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	return body, nil
}

// setPreset puts the limits of a preset in the place of the configured ones. An empty name changes nothing.
func setPreset(conf *config.Config, preset string) error {
	if preset == "" {
		return nil
	}
	if err := conf.Rewrite.SetPreset(preset); err != nil {
		return fmt.Errorf("cannot use preset %q: %w", preset, err)
	}
	return nil
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

// earlierBodies returns the bodies of the requests before this one: one was sent wherever the assistant answered.
func earlierBodies(r *conversation.Request) (bodies [][]byte) {
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

// writeExplanation writes what is done to a request, and why, for people. from says where its window is known from.
func writeExplanation(
	to io.Writer, conf *config.Config, from window.Source, out *rewrite.Output, earlier []string,
) error {
	r := out.Report
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d tokens as it came, %d as it would be sent\n", r.TokensBefore.Total(), r.TokensAfter.Total())
	l := conf.Rewrite.EffectiveAt(r.Window, int(r.Usable), 1)
	fmt.Fprintf(w, "\nlimit\ttokens\nwindow (%s)\t%d\nusable\t%d\nclear\t%d\ncompact\t%d\na result\t%d\n"+
		"a search or fetch\t%d\na file read\t%d\n\n", from, r.Window, r.Usable, l.ClearLine, l.CompactLine, l.Offload,
		l.Lookups, l.Reads)
	if r.Added.Tokens > 0 {
		fmt.Fprintf(w, "Added to the system prompt: %d tokens, context files %q.\n", r.Added.Tokens, r.Added.Names)
	}
	if r.Err != nil {
		fmt.Fprintf(w, "Something failed inside epitome, so it would send the form decided before: %v.\n", r.Err)
	}
	if conf.Mode != "on" {
		fmt.Fprintf(w, "The mode is %s: the request would be sent as it came. In mode on:\n", conf.Mode)
	}
	lines := earlier
	for _, c := range out.Changes() {
		lines = append(lines, changeLine(c))
	}
	if len(lines) == 0 {
		fmt.Fprintf(w, "Nothing would be done: %s.\n", cmp.Or(r.Reason, r.Code.Sentence()))
		return w.Flush()
	}
	fmt.Fprintln(w, "messages\tstep\ttool\tbefore\tafter\tartifact\twhy")
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

// changeLine returns the line of a table about a change.
func changeLine(c rewrite.Change) string {
	messages, artifact, why := fmt.Sprint(c.Message), "", "decided before"
	if c.New {
		why = strings.ReplaceAll(string(c.Why), "_", " ")
	}
	if c.Last > c.Message {
		messages += fmt.Sprintf("-%d", c.Last)
	}
	if len(c.Artifacts) > 0 {
		artifact = c.Artifacts[0]
	}
	call := console.Plain(console.Shorten(strings.Join(strings.Fields(c.Tool+" "+c.Argument), " "), 40))
	return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s\t%s", messages, c.Step, call, c.Before, c.After, artifact, why)
}
