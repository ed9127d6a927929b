package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"epitome/bench/backend"
	"epitome/bench/cancel"
	"epitome/bench/lineup"
	benchload "epitome/bench/load"
)

type benchCmd struct {
	Load     loadCmd     `cmd:"" group:"develop" help:"Measure added latency, CPU, throughput and memory against a direct call, nginx and a bare fasthttp proxy, in one interleaved run of a minute."`
	Replay   replayCmd   `cmd:"" help:"Play recorded conversations turn by turn through the ladder, and measure what it saves and what it loses."`
	Cancel   cancelCmd   `cmd:"" group:"develop" help:"Measure how soon the upstream's connection is closed when a client leaves."`
	Baseline baselineCmd `cmd:"" hidden:"" help:"The bare fasthttp proxy."`
	Upstream upstreamCmd `cmd:"" hidden:"" help:"The upstream that benchmarks talk to."`
}

// verdict is what every benchmark is asked for.
type verdict struct {
	JSON  bool `help:"Print the report as JSON."`
	Check bool `group:"develop" help:"Exit with status 1 when a figure misses its goal."`
}

// report prints a report and judges it.
func (v verdict) report(r interface {
	Print(io.Writer) error
	Missed() []string
}) error {
	var err error
	if v.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		err = out.Encode(r)
	} else {
		err = r.Print(os.Stdout)
	}
	if err != nil || !v.Check {
		return err
	}
	for _, m := range r.Missed() {
		fmt.Fprintln(os.Stderr, "epitome: missed: "+m)
		err = exitStatus(1)
	}
	return err
}

// untilSignal is a context that ends with an interrupt.
func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// newLineup is epitome as it is here, with defaults, and whatever else is asked for.
func newLineup(more map[string]string) (lineup.Lineup, error) {
	self, err := os.Executable()
	if err != nil {
		return lineup.Lineup{}, fmt.Errorf("cannot find epitome's own program file: %w", err)
	}
	l := lineup.Lineup{Progress: os.Stderr, Proxies: []lineup.Contender{epitomeAt("epitome", self)}}
	for name, url := range more {
		l.Proxies = append(l.Proxies, lineup.Contender{Name: name, URL: url})
	}
	return l, nil
}

// epitomeAt is the epitome in the file program, with defaults.
func epitomeAt(name, program string) lineup.Contender {
	return lineup.Contender{Name: name, Ready: "/-/ready", Command: []string{program, "serve", "--config", os.DevNull,
		"--listen", "{listen}", "--upstream", "{upstream}", "--data", "{dir}"}}
}

type loadCmd struct {
	verdict
	Against        []string          `placeholder:"BINARY,..." help:"Measure the epitome in this file too, and put each figure beside it. One that is named twice shows how much the same program differs from itself."`
	Proxy          map[string]string `placeholder:"NAME=URL" help:"Measure this proxy too. It must forward to the upstream's address (see --upstream-listen)."`
	UpstreamListen string            `placeholder:"HOST:PORT" help:"Address on loopback where the benchmark's upstream listens. Default: a free port."`
	Quick          bool              `help:"Run briefly, to see that everything works. The figures then mean little."`
	Dialect        string            `placeholder:"NAME" enum:"chat,messages,responses" default:"chat" help:"What is asked: chat for Chat Completions, messages for Anthropic Messages, responses for OpenAI Responses, the last two with epitome in Chat Completions beside it in the same run. Default: ${default}."`
}

func (k loadCmd) Run(*cli) error {
	l, err := newLineup(k.Proxy)
	if err != nil {
		return err
	}
	opts := benchload.Options{Lineup: l, UpstreamListen: k.UpstreamListen, Quick: k.Quick}
	if len(k.Against) > 0 {
		copies, err := newAlike()
		if err != nil {
			return err
		}
		defer copies.remove()
		if err := k.enterRivals(&opts.Lineup, copies); err != nil {
			return err
		}
	}
	if opts.Dialect = k.Dialect; k.Dialect != "chat" {
		inChat := opts.Proxies[0]
		inChat.Name, inChat.Rival, inChat.Chat = inChat.Name+" in chat", true, true
		opts.Proxies = append(opts.Proxies, inChat)
	}
	ctx, stop := untilSignal()
	defer stop()
	r, err := benchload.Run(ctx, opts)
	if err != nil {
		return err
	}
	return k.report(r)
}

// enterRivals has the programs measured too that are named. They, and epitome beside them, run from copies.
func (k loadCmd) enterRivals(l *lineup.Lineup, copies alike) error {
	own, err := copies.of(l.Proxies[0].Command[0], 0)
	if err != nil {
		return err
	}
	l.Proxies[0].Command[0] = own
	for i, program := range k.Against {
		path, err := copies.of(program, i+1)
		if err != nil {
			return err
		}
		rival := epitomeAt(fmt.Sprintf("%d: %s", i+1, filepath.Base(program)), path)
		rival.Rival = true
		l.Proxies = append(l.Proxies, rival)
	}
	return nil
}

type cancelCmd struct {
	verdict
	Quick bool `help:"Run briefly, to see that everything works. The figures then mean little."`
}

func (k cancelCmd) Run(*cli) error {
	l, err := newLineup(nil)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	r, err := cancel.Run(ctx, cancel.Options{Lineup: l, Quick: k.Quick})
	if err != nil {
		return err
	}
	return k.report(r)
}

type baselineCmd struct{}

// Run serves what --listen and --upstream say.
func (baselineCmd) Run(c *cli) error {
	ctx, stop := untilSignal()
	defer stop()
	return lineup.Baseline(ctx, c.Listen, c.Upstream)
}

type upstreamCmd struct{}

// Run serves what --listen says.
func (upstreamCmd) Run(c *cli) error {
	ctx, stop := untilSignal()
	defer stop()
	return backend.Serve(ctx, c.Listen)
}
