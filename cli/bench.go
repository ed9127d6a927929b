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
	"epitome/internal/unit"
	"epitome/summarize"
)

func (a *app) benchCommand() *cobra.Command {
	proxy := &cobra.Command{Use: "baseline", Short: "The minimal proxy that load compares with", Hidden: true,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return load.Baseline(a.flags.Listen, a.flags.Upstream) }}
	return verbs("bench", "Measure epitome on this machine", a.replayCommand(), a.recallCommand(), loadCommand(), proxy)
}

// verdict prints a report of a benchmark and judges it.
type verdict struct{ json, check bool }

// addFlags adds the flags that set v.
func (v *verdict) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&v.json, "json", false, "print the report as JSON")
	c.Flags().BoolVar(&v.check, "check", false, "say which figures miss their goals, and exit with status 1 if any does")
}

// report is the result of a benchmark.
type report interface {
	Print(io.Writer) error
	Missed() []string
}

// report prints a report, unless err says that there is none. Its error is the exit status if the report is checked and
// has missed a goal.
func (v verdict) report(r report, err error) error {
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

// playCommand completes a command that plays what is at the paths in its arguments, in these windows by default.
func (a *app) playCommand(
	c *cobra.Command, windows []string, play func(context.Context, replay.Options) (report, error),
) *cobra.Command {
	var v verdict
	c.Args = atLeast(1)
	c.RunE = func(_ *cobra.Command, paths []string) (err error) {
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
		return v.report(play(ctx, o))
	}
	v.addFlags(c)
	c.Flags().StringSliceVar(&windows, "window", windows, "windows in `tokens`")
	return c
}

func (a *app) replayCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "replay PATH...",
		Short: "Play recorded sessions, and measure what epitome's steps save and lose",
		Long: "Play recorded sessions turn by turn, and measure what epitome's steps save and lose. A PATH is a\n" +
			"log, or a folder of logs: of Claude Code, Codex, OpenCode or pi, or of Chat Completions requests."}
	windows := []string{"32k", "64k", "128k", "200k"}
	overhead := "0"
	a.playCommand(c, windows, func(ctx context.Context, o replay.Options) (report, error) {
		var tokens unit.Tokens
		if err := tokens.UnmarshalText([]byte(overhead)); err != nil {
			return nil, fmt.Errorf("cannot use --overhead: %w", err)
		}
		o.Overhead = int(tokens)
		return replay.Run(ctx, o)
	})
	c.Flags().StringVar(&overhead, "overhead", overhead, "`tokens` of system prompt and tools, which logs lack, to put "+
		"before each session")
	return c
}

func (a *app) recallCommand() *cobra.Command {
	var mode string
	var once bool
	c := &cobra.Command{
		Use:   "recall PATH...",
		Short: "Count the answers that can still be read in conversations once they are compacted",
		Long: "Count the answers that can still be read in conversations once they are compacted. A PATH is a JSON\n" +
			"file, or a folder of them, with {\"request\": BODY, \"questions\": [{\"question\": TEXT,\n" +
			"\"expected\": TEXT, \"category\": NAME}]} or a list of such objects. BODY is a request of any API."}
	c.Flags().StringVar(&mode, "mode", string(summarize.Intent), "`mode` of summaries")
	c.Flags().BoolVar(&once, "once", false, "compact each conversation once, instead of playing it as it grew")
	return a.playCommand(c, []string{"32k", "64k"}, func(ctx context.Context, o replay.Options) (r report, err error) {
		if o.Config.Summarize.Mode, err = summarize.ParseMode(mode); err != nil {
			return nil, fmt.Errorf("cannot use --mode %.40q: %w", mode, err)
		}
		o.Once = once
		return replay.Recall(ctx, o)
	})
}

func loadCommand() *cobra.Command {
	var v verdict
	o := load.Options{Progress: os.Stderr}
	c := &cobra.Command{Use: "load", Args: cobra.NoArgs,
		Short: "Compare latency, CPU, throughput and memory with a direct call and a minimal proxy (fasthttp)",
		Long: "Compare latency, CPU, throughput and memory with a direct call and a minimal proxy (fasthttp): for\n" +
			"requests that pass unchanged, one that is rewritten and repeated, and a conversation that grows to\n" +
			"5 MB. All processes run on loopback. CPU and memory are measured on Linux only.",
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
