package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"epitome/config"
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
			return e.print(&out)
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
	earlier  []change // decided at earlier requests
}

// change is a change that was decided at the request of a turn; 0 is the last one.
type change struct {
	Turn int
	rewrite.Change
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
	e.request, err = conversation.Read(e.dialect, body, nil)
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
				e.earlier = append(e.earlier, change{turn, c})
			}
		}
	}
}

// print writes what is done to the request, and why, for people.
func (e *explanation) print(out *rewrite.Output) error {
	r := out.Report
	changes := e.earlier
	for _, c := range out.Changes() {
		changes = append(changes, change{Change: c})
	}
	var codes event.Codes
	for _, c := range changes {
		if c.New {
			codes = codes.With(c.Reason)
		}
	}
	return show(stdout, "explain", 0, map[string]any{
		"Model": e.request.Model, "Upstream": e.upstream, "API": e.dialect.API().Name, "Source": e.source,
		"Messages": e.request.MessagesIn(0, len(e.request.Items)), "Report": r, "Failure": cmp.Or(r.Err, r.Faults),
		"Limits": e.conf.Rewrite.EffectiveAt(r.Window, r.Usable, 1), "Mode": e.conf.Mode, "Changes": changes, "Codes": codes,
		"Receipt": out.Receipt(),
	})
}
