package command

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"epitome/config"
	"epitome/console/access"
	"epitome/daemon"
	"epitome/demo"
	"epitome/event/money"
	"epitome/instance"
	"epitome/proxy"
	"epitome/unit"
)

type demoCmd struct {
	verdict
	Window  string `placeholder:"TOKENS" default:"64k" help:"Tokens that the model holds, as 64k or 64000. Default: 64k."`
	Dialect string `placeholder:"NAME" enum:"chat,messages,responses" default:"chat" help:"What agent and model speak: chat for Chat Completions, messages for Anthropic Messages, responses for OpenAI Responses. Default: ${default}."`
	Turns   int    `placeholder:"N" default:"140" help:"About how many requests the agent sends. Default: 140."`
	Seed    uint64 `placeholder:"N" default:"1" help:"Number that the session is made from. Equal seeds make equal sessions. Default: 1."`
	All     bool   `help:"Show every turn. By default, turns that bring nothing new are folded."`
	Open    bool   `help:"Keep epitome running at the end, and print a link to its pages. Ctrl-C ends it."`
	Keep    bool   `help:"Keep the artifacts, the store and the log, and say where they lie."`
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
	folder, err := demoFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.leave(folder)) }()
	if err := seal(folder, k.Seed); err != nil {
		return err
	}
	s := stagedDemo{defaults: c.defaults, folder: folder, window: window, file: c.Config, mode: c.Mode}
	o := demo.Options{Window: window, Turns: k.Turns, Seed: k.Seed, All: k.All, Open: s.open, Dialect: k.Dialect}
	if o.Mode, err = s.modeOf(); err != nil {
		return err
	}
	if !k.JSON {
		o.Live, o.Color = os.Stdout, isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == ""
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
			"Enter prints another one, Ctrl-C ends epitome.\n", link); err != nil {
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

// demoFolder makes a folder for what epitome keeps. Its path stands in what the model is sent, so it is the same one
// as long as that is free.
func demoFolder() (folder string, err error) {
	folder = filepath.Join(os.TempDir(), "epitome-demo")
	if os.Mkdir(folder, 0o700) == nil {
		return folder, nil
	}
	if folder, err = os.MkdirTemp("", "epitome-demo-"); err != nil { // another demo runs, or was kept
		return "", fmt.Errorf("cannot make a folder for the demo: %w", err)
	}
	return folder, nil
}

// seal makes the secret in the folder that of the seed. Names of artifacts depend on it, and stand in what the model
// is sent.
func seal(folder string, seed uint64) error {
	secret := sha256.Sum256(fmt.Appendf(nil, "epitome demo %d", seed))
	if err := os.WriteFile(filepath.Join(folder, "secret"), secret[:], 0o600); err != nil {
		return fmt.Errorf("cannot write to the folder of the demo: %w", err)
	}
	return nil
}

// stagedDemo starts the daemon for a demo, with all that belongs to it.
type stagedDemo struct {
	defaults string
	folder   string
	window   int
	file     string // of the configuration; empty is the built-in one
	mode     string
}

// config is the daemon's own but for what a demo brings.
func (s stagedDemo) config(upstream string) (config.Config, error) {
	file := s.file
	if file == "" {
		file = os.DevNull // the user's own would make it another demo on each machine
	}
	conf, err := config.Load(s.defaults, file, config.Overrides{Listen: "127.0.0.1:0", Data: s.folder, Mode: s.mode})
	if err != nil {
		return config.Config{}, err
	}
	conf.Upstream, conf.Routes = config.URLUpstream, nil
	conf.Upstreams = map[string]proxy.UpstreamConfig{config.URLUpstream: {URL: upstream}}
	if conf.Prices == nil {
		conf.Prices = make(money.Config)
	}
	conf.Prices[demo.Model] = demoPrice()
	// Its model is asked for nothing but its part.
	conf.Window.Models, conf.Window.Probe = map[string]unit.Tokens{demo.Model: unit.Tokens(s.window)}, false
	for _, key := range [...][]string{{"upstream"}, {"upstreams", config.URLUpstream}, {"prices", demo.Model},
		{"window", "models"}, {"window", "probe"}} {
		conf.SetBy("epitome demo", key...)
	}
	return conf, conf.Validate()
}

// demoPrice is what the demo's model would cost: about what a large one does, with a cached token at a tenth.
func demoPrice() money.Own {
	input, cached, output := 1.25, .125, 10.
	return money.Own{Input: &input, Cached: &cached, Output: &output}
}

// modeOf returns the mode that the daemon will run in.
func (s stagedDemo) modeOf() (string, error) {
	conf, err := s.config("http://127.0.0.1:9/v1") // nobody is asked
	return conf.Mode, err
}

// open starts the daemon before an upstream. Closing it is as a signal would end it.
func (s stagedDemo) open(upstream string) (demo.Proxy, error) {
	log, err := os.OpenFile(filepath.Join(s.folder, "epitome.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return demo.Proxy{}, fmt.Errorf("cannot write a log: %w", err)
	}
	signals := make(chan os.Signal, 1)
	load := func() (config.Config, error) { return s.config(upstream) }
	d := daemon.New(slog.New(slog.NewJSONHandler(log, nil)), signals, load)
	if err := d.Start(false); err != nil {
		return demo.Proxy{}, errors.Join(err, log.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Serve() }()
	return demo.Proxy{URL: "http://" + d.Address() + "/v1", Close: func() error {
		signals <- os.Interrupt
		return errors.Join(<-ended, log.Close())
	}}, nil
}
