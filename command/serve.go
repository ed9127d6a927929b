package command

import (
	"os"
	"os/signal"
	"syscall"

	"epitome/config"
	"epitome/daemon"
)

type serveCmd struct {
	Leased bool              `hidden:"" help:"End when the last user of /-/lease has left."`
	Base   map[string]string `hidden:"" placeholder:"NAME=URL" help:"Further upstreams."`
}

// Run serves until a signal, or until the last lease ends.
func (s serveCmd) Run(c *cli) error {
	signals := make(chan os.Signal, 4)
	// before anyone can know that there is something to signal
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	d := daemon.New(newLog(os.Stderr), signals, func() (config.Config, error) { return s.config(c) })
	if err := d.Start(s.Leased); err != nil {
		return err
	}
	return d.Serve()
}

func (s serveCmd) config(c *cli) (config.Config, error) {
	conf, err := c.load()
	if err != nil {
		return config.Config{}, err
	}
	for name, url := range s.Base {
		conf.AddUpstream(name, url, "--base")
	}
	return conf, conf.Validate()
}
