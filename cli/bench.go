package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"epitome/bench/load"
)

func (a *app) benchCommand() *cobra.Command {
	proxy := &cobra.Command{Use: "baseline", Short: "The bare fasthttp proxy that load compares with", Hidden: true,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := untilSignal()
			defer stop()
			return load.Baseline(ctx, a.flags.Listen, a.flags.Upstream)
		}}
	upstream := &cobra.Command{Use: "upstream", Short: "The upstream that load measures with", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := untilSignal()
			defer stop()
			return load.Serve(ctx, a.flags.Listen)
		}}
	return verbs("bench", "Measure epitome on this machine", a.replayCommand(), loadCommand(), proxy, upstream)
}

// verdict prints a report of a benchmark and judges it.
type verdict struct{ json, check bool }

// addFlags adds the flags that set v.
func (v *verdict) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&v.json, "json", false, "print the report as JSON")
	c.Flags().BoolVar(&v.check, "check", false, "exit with status 1 if a figure misses its goal")
}

// report prints a report. Its error is the exit status if the report is checked and has missed a goal.
func (v verdict) report(r interface {
	Print(io.Writer) error
	Missed() []string
}) error {
	var err error
	if v.json {
		err = printJSON(r)
	} else {
		err = r.Print(os.Stdout)
	}
	if err != nil || !v.check {
		return err
	}
	for _, m := range r.Missed() {
		fmt.Fprintln(os.Stderr, "epitome: missed: "+m)
		err = exitStatus(1)
	}
	return err
}

// untilSignal returns a context that ends with an interrupt.
func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

func loadCommand() *cobra.Command {
	var v verdict
	var against []string
	var quick bool
	c := &cobra.Command{Use: "load", Args: noArgs,
		Short: "Compare latency, CPU, throughput and memory with a direct call, nginx and a bare fasthttp proxy",
		RunE:  func(*cobra.Command, []string) error { return runLoad(v, against, quick) }}
	v.addFlags(c)
	c.Flags().StringSliceVar(&against, "against", nil, "measure these epitome `binaries` too, and print their figures "+
		"beside")
	c.Flags().BoolVar(&quick, "quick", false, "run briefly, to see that everything works; the figures then mean little")
	return c
}

// runLoad measures this program, and the programs in against. All run from copies: more of a file that a linker has
// just written may count as idle memory.
func runLoad(v verdict, against []string, quick bool) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find the program file: %w", err)
	}
	folder, err := os.MkdirTemp("", "epitome-bench-")
	if err != nil {
		return fmt.Errorf("cannot make a temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	config := filepath.Join(folder, "config.toml") // bodies are to pass as they are
	if err := os.WriteFile(config, []byte("[rewrite]\nrent = 0.0\n"), 0o600); err != nil {
		return fmt.Errorf("cannot write a configuration: %w", err)
	}
	lineup := load.Lineup{Progress: os.Stderr}
	for i, program := range append([]string{self}, against...) {
		path := filepath.Join(folder, strconv.Itoa(i))
		text, err := os.ReadFile(program)
		if err == nil {
			err = os.WriteFile(path, text, 0o700)
		}
		if err != nil {
			return fmt.Errorf("cannot copy the program %s: %w", program, err)
		}
		name := "epitome"
		if i > 0 {
			name = fmt.Sprintf("%d: %s", i, filepath.Base(program))
		}
		lineup.Proxies = append(lineup.Proxies, load.Contender{Name: name, Rival: i > 0, Ready: "/-/ready",
			Command: []string{path, "serve", "--config", config, "--listen", "{listen}", "--upstream", "{upstream}", "--data",
				"{dir}"}})
	}
	ctx, stop := untilSignal()
	defer stop()
	r, err := load.Run(ctx, load.Options{Lineup: lineup, Quick: quick})
	if err != nil {
		return err
	}
	return v.report(r)
}
