package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"epitome/bench/load"
	"epitome/bench/replay"
	"epitome/config"
)

func (a *app) benchCommand() *cobra.Command {
	proxy := &cobra.Command{Use: "baseline", Short: "The minimal proxy that load compares with", Hidden: true,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return load.Baseline(a.flags.Listen, a.flags.Upstream) }}
	return verbs("bench", "Measure epitome on this machine", a.replayCommand(), loadCommand(), proxy)
}

// verdict prints a report of a benchmark and judges it.
type verdict struct{ json, check bool }

// addFlags adds the flags that set v.
func (v *verdict) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&v.json, "json", false, "print the report as JSON")
	c.Flags().BoolVar(&v.check, "check", false, "say which figures miss their goals, and exit with status 1 if any does")
}

// report prints a report, unless err says that there is none. Its error is the exit status if the report is checked and
// has missed a goal.
func (v verdict) report(r interface {
	Print(io.Writer) error
	Missed() []string
}, err error) error {
	switch {
	case err != nil:
		return err
	case v.json:
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		err = out.Encode(r)
	default:
		err = r.Print(stdout)
	}
	if err != nil || !v.check {
		return err
	}
	for _, m := range r.Missed() {
		warn("missed: %s", m)
		err = exitStatus(1)
	}
	return err
}

// untilSignal returns a context that ends with an interrupt.
func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

func (a *app) replayCommand() *cobra.Command {
	var v verdict
	var windows []string
	c := &cobra.Command{
		Use:   "replay PATH...",
		Short: "Play recorded sessions, and measure what epitome's steps save and lose",
		Long: "Play recorded sessions turn by turn, and measure what epitome's steps save and lose. A PATH is a\n" +
			"log, or a folder of logs: of Claude Code, Codex, OpenCode or pi, or of Chat Completions requests.",
		Args: atLeast(1),
		RunE: func(_ *cobra.Command, paths []string) (err error) {
			o := replay.Options{Paths: paths, Progress: os.Stderr}
			if o.Config, err = a.load(); err != nil {
				return err
			}
			for _, text := range windows {
				tokens, err := config.ParseWindow(text)
				if err != nil {
					return err
				}
				o.Windows = append(o.Windows, tokens)
			}
			ctx, stop := untilSignal()
			defer stop()
			return v.report(replay.Run(ctx, o))
		}}
	v.addFlags(c)
	c.Flags().StringSliceVar(&windows, "window", []string{"32k", "64k", "128k", "200k"}, "windows in `tokens`")
	return c
}

func loadCommand() *cobra.Command {
	var v verdict
	o := load.Options{Progress: os.Stderr}
	c := &cobra.Command{Use: "load", Args: cobra.NoArgs,
		Short: "Compare latency, CPU, throughput and memory with a direct call and a minimal proxy (fasthttp)",
		RunE: func(*cobra.Command, []string) (err error) {
			if o.Program, err = os.Executable(); err != nil {
				return fmt.Errorf("cannot find the program file: %w", err)
			}
			ctx, stop := untilSignal()
			defer stop()
			return v.report(load.Run(ctx, o))
		}}
	v.addFlags(c)
	c.Flags().StringSliceVar(&o.Against, "against", nil, "measure these epitome `binaries` too, for comparison")
	c.Flags().BoolVar(&o.Quick, "quick", false, "run briefly, to see that everything works; the figures mean little")
	return c
}
