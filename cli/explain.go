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
			if err != nil {
				return fmt.Errorf("cannot explain %s: %w", args[0], err)
			}
			out, changes := e.play(turns)
			if onlyBody {
				_, err := stdout.Write(out.Body)
				return err
			}
			return e.print(&out, changes)
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
}

// change is a change that was decided at the request of a turn; 0 is the last one.
type change struct {
	Turn int
	rewrite.Change
}

// newExplanation reads the request in a file; - is standard input. It assumes a window if one is given.
func (a *app) newExplanation(file, holds string) (*explanation, error) {
	conf, err := a.load()
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
	if card, err := daemon.Read(conf.Data); err == nil {
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
	deps, err := daemon.TrialDeps(conf, windows)
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

// play shapes the request, and before it, if they are wanted, those that were sent while the conversation grew. It
// returns what became of the request, and all changes.
func (e *explanation) play(earlier bool) (out rewrite.Output, changes []change) {
	to := e.conf.Upstreams[e.upstream]
	turn := 0
	for end, body := range e.request.Grown() {
		isLast := end == len(e.request.Body)
		if !isLast && !earlier {
			continue
		}
		out = e.shaper.Shape(rewrite.Input{Dialect: e.dialect, Body: body, Upstream: e.upstream,
			Limits: &e.conf.Rewrite, Summary: e.conf.Summarize,
			Contexts: slices.Concat(to.Context, e.conf.Context.Names)})
		turn++
		if isLast {
			turn = 0
		}
		for _, c := range out.Changes() {
			if c.New || isLast {
				changes = append(changes, change{turn, c})
			}
		}
	}
	return out, changes
}

// print writes what is done to the request, and why, for people.
func (e *explanation) print(out *rewrite.Output, changes []change) error {
	r := out.Report
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
