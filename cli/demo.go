package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"epitome/bench/demo"
	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/event"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/summarize"
)

func (a *app) demoCommand() *cobra.Command {
	var v verdict
	var window string
	var open bool
	o := demo.Options{Out: os.Stdout, Color: hasColours(os.Stdout)}
	c := &cobra.Command{Use: "demo", Short: "Play a long scripted session through the proxy, offline",
		RunE: func(*cobra.Command, []string) (err error) {
			if o.Window, err = config.ParseWindow(window); err != nil {
				return err
			}
			return a.demo(o, v, open)
		}}
	f := c.Flags()
	f.BoolVar(&v.check, "check", false, "exit with status 1 if epitome makes a mistake")
	f.StringVar(&window, "window", "64k", "`tokens` that the model holds")
	f.IntVar(&o.Turns, "turns", 140, "about how many requests the agent sends, at least 20")
	f.BoolVar(&open, "open", false, "at the end, print a link to the pages, and keep running until Ctrl-C")
	return c
}

// demo plays the session with the built-in configuration, or with that of --config.
func (a *app) demo(o demo.Options, v verdict, open bool) (err error) {
	folder, err := newDemoFolder()
	if err != nil {
		return err
	}
	end := func() error { return nil } // of epitome, once it runs
	defer func() { err = errors.Join(err, end(), os.RemoveAll(folder)) }()
	conf, err := a.demoConfig(folder, o.Window)
	if err != nil {
		return err
	}
	var card *daemon.Card
	o.Start = func(upstream string) (demo.Proxy, error) {
		conf.Upstreams = map[string]proxy.UpstreamConfig{config.URLUpstream: {URL: upstream}}
		d, stop, err := serveInside(folder, func() (config.Config, error) { return conf, conf.Validate() })
		if err != nil {
			return demo.Proxy{}, err
		}
		end = stop
		card, err = daemon.Read(folder)
		artifacts := filepath.Join(folder, "artifacts")
		return demo.Proxy{URL: "http://" + d.Address() + "/v1", Artifacts: artifacts, Get: card.Get}, err
	}
	ctx, cancel := untilSignal()
	defer cancel()
	r, err := demo.Run(ctx, o)
	if err != nil {
		return err
	}
	err = v.report(r, nil)
	if open {
		err = cmp.Or(linger(ctx, card, folder), err)
	}
	return err
}

// linger prints a link to the pages of the epitome with the folder, and keeps it running until ctx ends.
func linger(ctx context.Context, card *daemon.Card, folder string) error {
	link, err := card.LoginLink(console.SessionLife)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "\nepitome goes on running until Ctrl-C. This link lets one browser in to its pages:\n\n"+
		"    %s\n\n"+
		"To ask this epitome more, use its folder, as in 'epitome --data %s stats'.\n", link, folder)
	<-ctx.Done()
	return nil
}

// newDemoFolder makes a folder for what epitome keeps. Its path, and the names of artifacts, stand in the text that the
// model is sent: they are the same each time, unless another demo runs.
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

// demoConfig returns the configuration of the demo: a model of a known window and price. It has no upstream yet.
func (a *app) demoConfig(folder string, window int) (config.Config, error) {
	file := a.file
	if file == "" {
		file = os.DevNull // the user's own file would make it another demo on each machine
	}
	conf, err := config.Load(a.defaults, file, config.Overrides{Listen: "127.0.0.1:0", Data: folder, Mode: a.flags.Mode})
	if err != nil {
		return config.Config{}, err
	}
	conf.Upstream, conf.Routes = config.URLUpstream, nil
	conf.Summarize.Mode = summarize.Intent   // the model cannot write
	input, cached, output := 1.25, .125, 10. // about the price of a large model
	conf.Prices = event.OwnPrices{demo.ModelName: {Input: &input, Cached: &cached, Output: &output}}
	conf.Window.Models, conf.Window.Probe = map[string]unit.Tokens{demo.ModelName: unit.Tokens(window)}, false
	return conf, nil
}
