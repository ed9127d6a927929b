package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"epitome/bench/demo"
	"epitome/config"
	"epitome/daemon"
	"epitome/event/money"
	"epitome/internal/unit"
	"epitome/proxy"
)

// newDemoFolder makes a folder for what epitome keeps. Its path stands in what the model is sent, so it is the same one
// as long as that is free.
func newDemoFolder() (folder string, err error) {
	folder = filepath.Join(os.TempDir(), "epitome-demo")
	if os.Mkdir(folder, 0o700) == nil {
		return folder, nil
	}
	if folder, err = os.MkdirTemp("", "epitome-demo-"); err != nil { // another demo runs, or was kept
		return "", fmt.Errorf("cannot make a folder for the demo: %w", err)
	}
	return folder, nil
}

// sealDemo makes the secret in the folder that of the seed. Names of artifacts depend on it, and stand in what the model
// is sent.
func sealDemo(folder string, seed uint64) error {
	secret := sha256.Sum256(fmt.Appendf(nil, "epitome demo %d", seed))
	if err := os.WriteFile(filepath.Join(folder, "secret"), secret[:], 0o600); err != nil {
		return fmt.Errorf("cannot write to the folder of the demo: %w", err)
	}
	return nil
}

// stage starts the daemon for a demo, with all that belongs to it.
type stage struct {
	Defaults string // text of the program's own configuration
	Folder   string
	Window   int    // tokens of the model
	File     string // of the configuration; empty is the built-in one
	Mode     string
}

// config is the daemon's own but for what a demo brings.
func (s stage) config(upstream string) (config.Config, error) {
	file := s.File
	if file == "" {
		file = os.DevNull // the user's own would make it another demo on each machine
	}
	conf, err := config.Load(s.Defaults, file, config.Overrides{Listen: "127.0.0.1:0", Data: s.Folder, Mode: s.Mode})
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
	conf.Window.Models, conf.Window.Probe = map[string]unit.Tokens{demo.Model: unit.Tokens(s.Window)}, false
	return conf, conf.Validate()
}

// demoPrice is what the demo's model would cost: about what a large one does, with a cached token at a tenth.
func demoPrice() money.Own {
	input, cached, output := 1.25, .125, 10.
	return money.Own{Input: &input, Cached: &cached, Output: &output}
}

// runs returns the mode that the daemon will run in.
func (s stage) runs() (string, error) {
	conf, err := s.config("http://127.0.0.1:9/v1") // nobody is asked
	return conf.Mode, err
}

// open starts the daemon before an upstream. Closing it is as a signal would end it.
func (s stage) open(upstream string) (demo.Proxy, error) {
	log, err := os.OpenFile(filepath.Join(s.Folder, "epitome.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
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
