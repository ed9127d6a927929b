package cli

import (
	"io"
	"log/slog"
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
	conf, err := s.config(c)
	if err != nil {
		return err
	}
	log, end, err := s.openLog(conf)
	if err != nil {
		return err
	}
	defer func() { _ = end.Close() }()
	d := daemon.New(log, signals, func() (config.Config, error) { return s.config(c) })
	if err := d.Start(s.Leased); err != nil {
		return err
	}
	return d.Serve()
}

// openLog begins the log. One that "run" has started has its standard error in a file of its own: no other is written.
func (s serveCmd) openLog(conf config.Config) (*slog.Logger, io.Closer, error) {
	file := conf.Log.File
	if s.Leased {
		file = ""
	}
	log, end, err := openLog(conf.Log, file)
	if err != nil {
		return nil, nil, err
	}
	return log, end, nil
}

func (s serveCmd) config(c *cli) (config.Config, error) {
	conf, err := c.load()
	if err != nil {
		return config.Config{}, err
	}
	for name, url := range s.Base {
		conf.AddUpstream(name, url)
	}
	if s.Leased {
		conf = conf.Private()
	}
	return conf, conf.Validate()
}
