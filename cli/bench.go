package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"epitome/bench/load"
)

type benchCmd struct {
	Load     loadCmd     `cmd:"" group:"develop" help:"Measure added latency, CPU, throughput, memory and cancelling against a direct call, nginx and a bare fasthttp proxy, in one run of two minutes."`
	Replay   replayCmd   `cmd:"" help:"Play recorded conversations turn by turn through the ladder, and measure what it saves and what it loses."`
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

// epitomeAt is the epitome in the file program with a configuration.
func epitomeAt(name, program, config string) load.Contender {
	return load.Contender{Name: name, Ready: "/-/ready", Command: []string{program, "serve", "--config", config,
		"--listen", "{listen}", "--upstream", "{upstream}", "--data", "{dir}"}}
}

type loadCmd struct {
	verdict
	Against []string `placeholder:"BINARY" help:"Measure the epitome in this file too, and put each figure beside it. One that is named twice shows how much the same program differs from itself."`
	Quick   bool     `help:"Run briefly, to see that everything works. The figures then mean little."`
}

func (k loadCmd) Run(*cli) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find epitome's own program file: %w", err)
	}
	folder, err := os.MkdirTemp("", "epitome-bench-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for configuration and programs: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	config := filepath.Join(folder, "config.toml") // bodies are to pass as they are
	if err := os.WriteFile(config, []byte("[rewrite]\nrent = 0.0\n"), 0o600); err != nil {
		return fmt.Errorf("cannot write a configuration: %w", err)
	}
	l := load.Lineup{Progress: os.Stderr, Proxies: []load.Contender{epitomeAt("epitome", self, config)}}
	if err := k.addRivals(&l, folder, config); err != nil {
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	r, err := load.Run(ctx, load.Options{Lineup: l, Quick: k.Quick})
	if err != nil {
		return err
	}
	return k.report(r)
}

// addRivals adds the programs of --against. They, and epitome beside them, run from copies in the folder: more of a
// file that a linker has just written may count as idle memory.
func (k loadCmd) addRivals(l *load.Lineup, folder, config string) error {
	if len(k.Against) == 0 {
		return nil
	}
	for i, program := range append([]string{l.Proxies[0].Command[0]}, k.Against...) {
		name := fmt.Sprintf("%d: %s", i, filepath.Base(program))
		text, err := os.ReadFile(program)
		path := filepath.Join(folder, strconv.Itoa(i))
		if err == nil {
			err = os.WriteFile(path, text, 0o700)
		}
		if err != nil {
			return fmt.Errorf("cannot copy the program %s: %w", program, err)
		}
		if i == 0 {
			l.Proxies[0].Command[0] = path
			continue
		}
		rival := epitomeAt(name, path, config)
		rival.Rival = true
		l.Proxies = append(l.Proxies, rival)
	}
	return nil
}

type baselineCmd struct{}

// Run serves what --listen and --upstream say.
func (baselineCmd) Run(c *cli) error {
	ctx, stop := untilSignal()
	defer stop()
	return load.Baseline(ctx, c.Listen, c.Upstream)
}

type upstreamCmd struct{}

// Run serves what --listen says.
func (upstreamCmd) Run(c *cli) error {
	ctx, stop := untilSignal()
	defer stop()
	return load.Serve(ctx, c.Listen)
}
