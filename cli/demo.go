package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"epitome/bench/demo"
	"epitome/config"
	"epitome/console/access"
	"epitome/daemon"
	"epitome/instance"
)

type demoCmd struct {
	verdict
	Window string `placeholder:"TOKENS" default:"64k" help:"Tokens that the model holds, as 64k or 64000. Default: 64k."`
	Turns  int    `placeholder:"N" default:"140" help:"About how many requests the agent sends. Default: 140."`
	Seed   uint64 `placeholder:"N" default:"1" help:"Number that the session is made from. Equal seeds make equal sessions. Default: 1."`
	All    bool   `help:"Show every turn. By default, turns that bring nothing new are folded."`
	Open   bool   `help:"Keep epitome running at the end, and print a link to its pages. Ctrl-C ends it."`
	Keep   bool   `help:"Keep the artifacts, the store and the log, and say where they lie."`
}

// Run plays the session with the built-in configuration, or with that of --config.
func (k demoCmd) Run(c *cli) (err error) {
	if c.Listen+c.Upstream+c.Data != "" {
		return errors.New("cannot run the demo with --listen, --upstream or --data: it brings its own; --config, --mode and its own flags are heeded")
	}
	window, err := config.ParseWindow(k.Window)
	if err != nil {
		return err
	}
	folder, err := newDemoFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.leave(folder)) }()
	if err := sealDemo(folder, k.Seed); err != nil {
		return err
	}
	s := stage{Defaults: c.defaults, Folder: folder, Window: window, File: c.Config, Mode: c.Mode}
	o := demo.Options{Window: window, Turns: k.Turns, Seed: k.Seed, All: k.All, Open: s.open}
	if !k.JSON {
		o.Live, o.Color = os.Stdout, isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == ""
	}
	if o.Mode, err = s.runs(); err != nil {
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	var told error
	o.End = func(r *demo.Report) error {
		told = k.report(r)
		return k.end(ctx, folder)
	}
	if _, err := demo.Run(ctx, o); err != nil {
		return err
	}
	return told
}

// end says how the session can be looked at, and lets epitome run on until a signal where it is to be.
func (k demoCmd) end(ctx context.Context, folder string) error {
	switch {
	case k.Open:
		to := os.Stdout
		if k.JSON {
			to = os.Stderr
		}
		return linger(ctx, folder, to)
	case !k.JSON:
		fmt.Println("\n'epitome demo --open' keeps epitome running, and shows all this on pages in a browser.")
	}
	return nil
}

// linger prints a link to the pages of the epitome with the folder, and another one for each line that is typed, until
// ctx ends. Each is good once, for as long as epitome runs: who reads along here has started it.
func linger(ctx context.Context, folder string, to io.Writer) error {
	card, err := instance.Read(folder)
	if err != nil {
		return fmt.Errorf("cannot find the demo's own epitome: %w", err)
	}
	lines := make(chan bool)
	go func() { // it ends with the program: reading from a terminal cannot be ended
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			lines <- true
		}
	}()
	for {
		link, err := card.LoginLink(access.SessionLife)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(to, "\nepitome goes on running. This link to its pages lets one browser in:\n\n    %s\n\n"+
			"Enter prints another one, Ctrl-C ends epitome. Other commands reach it as in 'epitome --data %s stats'.\n",
			link, folder); err != nil {
			return err
		}
		select {
		case <-lines:
		case <-ctx.Done():
			return nil
		}
	}
}

// leave takes the folder away, or says where it is.
func (k demoCmd) leave(folder string) error {
	if k.Keep {
		fmt.Fprintln(os.Stderr, "epitome: what was put aside lies in "+filepath.Join(folder, daemon.ArtifactFolder)+", the log beside it")
		return nil
	}
	return os.RemoveAll(folder)
}
