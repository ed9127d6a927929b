package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"gopkg.in/natefinch/lumberjack.v2"

	"epitome/cli/daemon"
	"epitome/config"
)

func (a *app) serveCommand() *cobra.Command {
	s := server{app: a}
	c := &cobra.Command{Use: "serve", Short: "Run the proxy in the foreground (the default command)",
		RunE: func(*cobra.Command, []string) error { return s.run() }}
	c.Flags().BoolVar(&s.leased, "leased", false, "end with the last user of /-/lease")
	c.Flags().StringArrayVar(&s.base, "base", nil, "a further upstream, as `NAME=URL`")
	_ = c.Flags().MarkHidden("leased") // both are for "epitome run"
	_ = c.Flags().MarkHidden("base")
	return c
}

// server runs the proxy.
type server struct {
	*app
	leased bool // it ends with its last user
	base   []string
}

// run serves until a signal, or until the last lease ends.
func (s *server) run() error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	conf, err := s.config()
	if err != nil {
		return err
	}
	if s.leased {
		conf.Log.File = "" // its standard error is a file of its own
	}
	log, end, err := openLog(conf)
	if err != nil {
		return err
	}
	defer func() { _ = end.Close() }()
	d := daemon.New(log, signals, s.config)
	if err := d.Start(s.leased); err != nil {
		return err
	}
	return d.Serve()
}

// config reads the configuration, at the start and at each reload.
func (s *server) config() (config.Config, error) {
	conf, err := s.load()
	if err != nil {
		return config.Config{}, err
	}
	for _, text := range s.base {
		name, url, _ := strings.Cut(text, "=")
		conf.AddUpstream(name, url)
	}
	if s.leased {
		conf = conf.Private()
	}
	return conf, conf.Validate()
}

// openLog begins the log, at standard error or in the file that the configuration names. Closing end closes the file.
func openLog(conf config.Config) (log *slog.Logger, end io.Closer, err error) {
	var to io.Writer = os.Stderr
	end = io.NopCloser(nil)
	c := conf.Log
	if c.File != "" {
		f, err := os.OpenFile(c.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil { // lumberjack would report it at the first line, to nobody
			return nil, nil, fmt.Errorf("cannot write a log: %w; name another file as log.file", err)
		}
		_ = f.Close()
		l := &lumberjack.Logger{Filename: c.File, MaxSize: 50, MaxBackups: 1} // megabytes
		to, end = l, l
	}
	opts := &slog.HandlerOptions{Level: c.Level}
	if c.Format == config.LogText || c.Format == config.LogAuto && c.File == "" && isTerminal(os.Stderr) {
		return slog.New(slog.NewTextHandler(to, opts)), end, nil
	}
	return slog.New(slog.NewJSONHandler(to, opts)), end, nil
}
