package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"gopkg.in/natefinch/lumberjack.v2"

	"epitome/cli/daemon"
	"epitome/config"
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{Use: "serve", Short: "Run the proxy in the foreground (the default command)",
		RunE: func(*cobra.Command, []string) error { return a.serve() }}
}

// serve runs the proxy until a signal ends it.
func (a *app) serve() error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	conf, err := a.load()
	if err != nil {
		return err
	}
	log, end, err := openLog(conf)
	if err != nil {
		return err
	}
	defer func() { _ = end.Close() }()
	d, err := daemon.Start(log, signals, a.load)
	if err != nil {
		return err
	}
	return d.Serve()
}

// openLog begins the log, on standard error or in the file that the configuration names. Closing end closes the file.
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
	if c.Format == "text" || c.Format == "auto" && c.File == "" && isTerminal(os.Stderr) {
		return slog.New(slog.NewTextHandler(to, opts)), end, nil
	}
	return slog.New(slog.NewJSONHandler(to, opts)), end, nil
}
