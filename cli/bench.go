package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"epitome/bench/demo"
	"epitome/bench/load"
	"epitome/bench/replay"
	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/event"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/summarize"
)

func (a *app) benchCommand() *cobra.Command {
	proxy := &cobra.Command{Use: "baseline", Short: "The minimal proxy that load compares with", Hidden: true,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return load.Baseline(a.flags.Listen, a.flags.Upstream) }}
	return verbs("bench", "Measure epitome on this machine", a.replayCommand(), a.recallCommand(), loadCommand(), proxy)
}

// jsonFlag adds the flag by which a benchmark prints its report as JSON.
func jsonFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print the report as JSON")
}

// printReport prints the result of a benchmark, unless err says that there is none: as JSON, or as one of the texts in
// texts.tmpl.
func printReport(report any, text string, asJSON *bool, err error) error {
	if err != nil {
		return err
	}
	if !*asJSON {
		return show(stdout, text, 0, report)
	}
	out := json.NewEncoder(stdout)
	out.SetIndent("", "  ")
	return out.Encode(report)
}

// untilSignal returns a context that ends with an interrupt.
func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// playCommand completes a command that plays what is at the paths in its arguments, in these windows by default.
func (a *app) playCommand(
	c *cobra.Command, windows []string, play func(context.Context, replay.Options) error,
) *cobra.Command {
	c.Args = cobra.MinimumNArgs(1)
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
		return play(ctx, o)
	}
	c.Flags().StringSliceVar(&windows, "window", windows, "windows in `tokens`")
	return c
}

func (a *app) replayCommand() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "replay PATH...",
		Short: "Play recorded sessions, and measure what epitome's steps save and lose"}
	asJSON := jsonFlag(c)
	c.Flags().BoolVar(&check, "check", false, "say which figures miss their goals, and exit with status 1 if any does")
	windows := []string{"32k", "64k", "128k", "200k"}
	return a.playCommand(c, windows, func(ctx context.Context, o replay.Options) error {
		r, err := replay.Run(ctx, o)
		err = printReport(r, "replay", asJSON, err)
		if err != nil || !check {
			return err
		}
		for _, m := range r.Missed() {
			warn("missed: %s", m)
			err = exitStatus(1)
		}
		return err
	})
}

func (a *app) recallCommand() *cobra.Command {
	var mode string
	var recall replay.Options
	c := &cobra.Command{
		Use:   "recall PATH...",
		Short: "Count the answers that can still be read in conversations once they are compacted"}
	asJSON := jsonFlag(c)
	f := c.Flags()
	f.StringVar(&mode, "mode", string(summarize.Intent), "`mode` of summaries")
	f.StringSliceVar(&recall.Methods, "method", nil, "`names` of methods, NAME=COMMAND, or all (default: the mode)")
	f.BoolVar(&recall.Once, "once", false, "compact each conversation once, instead of playing it as it grew")
	f.DurationVar(&recall.Wait, "wait", time.Minute, "for one answer of a command")
	f.BoolVar(&recall.Last, "last", false, "add the last requests to --json, for bench/reader.py")
	return a.playCommand(c, []string{"32k", "64k"}, func(ctx context.Context, o replay.Options) (err error) {
		if o.Config.Summarize.Mode, err = summarize.Parse[summarize.Mode](mode, summarize.Modes); err != nil {
			return fmt.Errorf("cannot use --mode %.40q: %w", mode, err)
		}
		recall.Paths, recall.Windows, recall.Config, recall.Progress = o.Paths, o.Windows, o.Config, o.Progress
		if recall.Methods == nil {
			recall.Methods = []string{mode}
		}
		r, err := replay.Recall(ctx, recall)
		return printReport(r, "recall", asJSON, err)
	})
}

func loadCommand() *cobra.Command {
	o := load.Options{Progress: os.Stderr}
	c := &cobra.Command{Use: "load", Args: cobra.NoArgs,
		Short: "Compare latency, CPU, throughput and memory with a direct call and a minimal proxy (fasthttp)"}
	asJSON := jsonFlag(c)
	c.RunE = func(*cobra.Command, []string) (err error) {
		if o.Program, err = os.Executable(); err != nil {
			return fmt.Errorf("cannot find the program file: %w", err)
		}
		ctx, stop := untilSignal()
		defer stop()
		r, err := load.Run(ctx, o)
		return printReport(r, "load", asJSON, err)
	}
	c.Flags().StringSliceVar(&o.Against, "against", nil, "measure these epitome `binaries` too, for comparison")
	c.Flags().BoolVar(&o.Quick, "quick", false, "run briefly, to see that everything works; the figures mean little")
	return c
}

func (a *app) demoCommand() *cobra.Command {
	var window string
	var open bool
	o := demo.Options{Out: os.Stdout}
	c := &cobra.Command{Use: "demo", Short: "Play a long scripted session through the proxy, offline"}
	asJSON := jsonFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		tokens, err := config.ParseWindow(window)
		if err != nil {
			return err
		}
		if *asJSON {
			o.Out = io.Discard
		}
		return a.demo(o, tokens, asJSON, open)
	}
	f := c.Flags()
	f.StringVar(&window, "window", "64k", "`tokens` that the model holds")
	f.IntVar(&o.Turns, "turns", 140, "about how many requests the agent sends, at least 20")
	f.BoolVar(&open, "open", false, "at the end, print a link to the pages, and keep running until Ctrl-C")
	return c
}

// demo plays the session with the built-in configuration, or with that of --config. The model holds window tokens.
func (a *app) demo(o demo.Options, window int, asJSON *bool, open bool) (err error) {
	folder, err := newDemoFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	o.Model, err = demo.StartModel(window)
	if err != nil {
		return err
	}
	defer o.Model.Close()
	conf, err := a.demoConfig(folder, o.Model.URL, window)
	if err != nil {
		return err
	}
	d, end, err := serveInside(folder, func() (config.Config, error) { return conf, conf.Validate() })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	card, err := daemon.Read(folder)
	if err != nil {
		return err
	}
	o.URL, o.Get = "http://"+d.Address()+"/v1", card.Get
	o.Artifacts = filepath.Join(folder, "artifacts")
	ctx, cancel := untilSignal()
	defer cancel()
	r, err := demo.Run(ctx, o)
	if err != nil {
		return err
	}
	err = printReport(r, "demo", asJSON, nil)
	if open {
		err = cmp.Or(linger(ctx, card, folder), err)
	}
	return err
}

// serveInside runs an epitome within this process until stop is called. It writes its log into the folder.
func serveInside(folder string, load func() (config.Config, error)) (d *daemon.Daemon, stop func() error, err error) {
	log, err := os.OpenFile(filepath.Join(folder, "epitome.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot write a log: %w", err)
	}
	signals := make(chan os.Signal, 1)
	if d, err = daemon.Start(slog.New(slog.NewJSONHandler(screen{log}, nil)), signals, load); err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Serve() }()
	return d, func() error {
		signals <- os.Interrupt
		return errors.Join(<-ended, log.Close())
	}, nil
}

// linger prints a link to the pages of the epitome with the folder, and keeps it running until ctx ends.
func linger(ctx context.Context, card *daemon.Card, folder string) error {
	link, err := card.LoginLink(console.SessionLife)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "\nepitome goes on running until Ctrl-C. This link lets one browser in to its pages:\n\n"+
		"    %s\n\n"+
		"To ask this epitome more, use its folder, as in '%s --data %q stats'.\n", link, console.Self, folder)
	<-ctx.Done()
	return nil
}

// shownDemoFolder is the folder of a demo as stubs and summaries name it, so that all demos have the same texts. It is
// the real one where temporary files lie in /tmp and no other demo runs.
const shownDemoFolder = "/tmp/epitome-demo"

// newDemoFolder makes a folder for what epitome keeps. The names of artifacts are the same each time.
func newDemoFolder() (folder string, err error) {
	folder = filepath.Join(os.TempDir(), "epitome-demo")
	if os.Mkdir(folder, 0o700) != nil {
		if folder, err = os.MkdirTemp("", "epitome-demo-"); err != nil {
			return "", fmt.Errorf("cannot make a folder for the demo: %w", err)
		}
	}
	secret := sha256.Sum256([]byte("epitome demo"))
	if err := os.WriteFile(filepath.Join(folder, "secret"), secret[:], 0o600); err != nil {
		return "", fmt.Errorf("cannot write to the folder of the demo: %w", err)
	}
	return folder, nil
}

// demoConfig returns the configuration of the demo: a model of a known window and price.
func (a *app) demoConfig(folder, upstream string, window int) (config.Config, error) {
	file := a.file
	if file == "" {
		file = os.DevNull // the user's own file would make it another demo on each machine
	}
	conf, err := config.Load(a.defaults, file, config.Overrides{Listen: "127.0.0.1:0", Data: folder, Mode: a.flags.Mode})
	if err != nil {
		return config.Config{}, err
	}
	conf.Upstream, conf.Routes = config.URLUpstream, nil
	conf.Upstreams = map[string]proxy.UpstreamConfig{config.URLUpstream: {URL: upstream}}
	conf.Summarize.Mode = summarize.Intent   // the model cannot write
	input, cached, output := 1.25, .125, 10. // about the price of a large model
	conf.Prices = event.OwnPrices{demo.ModelName: {Input: &input, Cached: &cached, Output: &output}}
	conf.Window.Models = map[string]unit.Tokens{demo.ModelName: unit.Tokens(window)}
	conf.Window.Probe = false
	conf.Offload.Shown = shownDemoFolder + "/artifacts/"
	return conf, nil
}
